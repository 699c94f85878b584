"""Load test of a service, with users that check their rows: `make loadtest`."""
