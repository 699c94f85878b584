"""What a sharing plan costs."""
