"""Drawings in SVG: merged query templates, and HAMLET and GLORIA graphs as the papers draw them."""
