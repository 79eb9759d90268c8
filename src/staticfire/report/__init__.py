"""What a run came to, as plain data."""
