"""Strategies to compare with: flattened Kleene, and SHARON's prefixes."""
