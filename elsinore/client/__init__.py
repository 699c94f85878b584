"""The client of a service. Requests and the meaning of replies are defined once, without sockets; two thin shells,
one blocking and one for asyncio, send the requests."""
