"""Run time: sessions, bounded runs, live streams and the HTTP service."""
