"""Test that the load test reports wrong rows, and only those."""
