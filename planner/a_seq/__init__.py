"""A-Seq: sequences as prefix trees, and where they are chopped."""
