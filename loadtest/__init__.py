"""Load on a service, by users who check their answers: `make loadtest`."""
