"""Ray actors, and the messages between them."""
