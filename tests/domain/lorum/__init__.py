"""The rules of Lorum, one situation a file."""
