"""The service: jobs over HTTP. Ray Serve deploys `app`."""
