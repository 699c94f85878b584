"""HAMLET graphs: bursts, graphlets, snapshots."""
