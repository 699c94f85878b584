"""Events as strangers send them: bytes that may be anything, read within bounds, and never run."""
