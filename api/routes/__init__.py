"""The routes, one resource a file: HTTP into one call and back. No rule is judged here."""
