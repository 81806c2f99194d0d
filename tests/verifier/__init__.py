"""A second opinion in another language, written from the documents alone."""
