"""Pictures as SVG: merged query templates, and HAMLET graphs as the paper draws them."""
