"""The client of a service. What is asked and what answers mean is said once, without a socket; two thin shells,
one that waits and one for asyncio, do the sending."""
