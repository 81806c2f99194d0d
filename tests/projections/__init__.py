"""Tests of projections/."""
