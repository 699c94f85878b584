"""The console: pages for a browser, and the updates that they get while they are open."""
