"""The HTTP side of the service: what is refused before it is read, routes, documents."""
