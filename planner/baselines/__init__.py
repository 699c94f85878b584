"""Strategies to compare with: flattened Kleene, SHARON's prefixes."""
