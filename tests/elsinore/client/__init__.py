"""Tests of the client: its calls without a socket, its shells against a small server, all of it against the service."""
