"""The console: pages for a browser, and what they are told while they are open."""
