"""Plans that detect many patterns together: what is shared, and how events are joined (Kolchinsky, Schuster)."""
