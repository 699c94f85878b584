"""A-Seq: sequences as prefix trees, and the places where they are chopped."""
