"""Fault runs: `python -m faults`. Real processes, a real Postgres, things that break, and a history
checker that judges what came of it.

Start at `catalogue.py` for what is broken and how, at `checker.py` for what has to hold. A tool for
those who work on Fairdeal: it is not installed with it.
"""
