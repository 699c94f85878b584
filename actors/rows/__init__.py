"""Results as rows."""
