"""Losing Lodam: one file a situation, one test a rule. Hands are made by hand, and so small that
the outcome can be checked by eye."""
