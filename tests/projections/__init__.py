"""The runner and builds of projections, on a real store."""
