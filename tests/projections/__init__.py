"""Projections on a real store: the runner and builds, and each by itself."""
