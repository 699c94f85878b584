"""Events in request bodies: untrusted bytes, read within limits and never executed."""
