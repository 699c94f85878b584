"""The HTTP side of the service: checks before a request is read, routes, documents."""
