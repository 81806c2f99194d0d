"""A game told again: hands, their tricks or runs, plays and payments. See `transcript` for words.

Interface first; the telling itself follows from the redacted events of one viewer, so a replay can
never show more than the viewer's own events do.
"""
