"""Local search for the cheapest plan of many patterns (Section 4.2, Appendix B)."""
