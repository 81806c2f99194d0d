"""Read models: derived from the log alone, and rebuilt from it at will."""
