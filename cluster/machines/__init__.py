"""Ray, Spark and Java: sessions, pools of actors, settings."""
