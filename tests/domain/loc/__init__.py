"""Loc, rule by rule: one situation a file, amounts worked out by hand."""
