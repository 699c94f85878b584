"""Checks, plans and runs for the console of the service, in a process that the service can kill."""
