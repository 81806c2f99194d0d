"""The rulebooks and recorded games that ship with the project."""
