"""What a step does, in plain Python."""
