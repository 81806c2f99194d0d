"""Mirrors `faults/`: the history checker against made-up histories, and the short fault runs."""
