"""What tests of several rooms have in common."""
