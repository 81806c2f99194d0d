"""Measurements, never tests: `python -m bench NAME` prints a table. See README.md here."""
