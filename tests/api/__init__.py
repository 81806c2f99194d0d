"""Tests of the API, through HTTP alone."""
