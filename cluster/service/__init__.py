"""The service: jobs over HTTP. `app` is what Ray Serve deploys."""
