"""`fairdeal doctor`: whether a service is set up so that it can serve, and keep what it promises.

It looks and never changes anything. Each check says what it found and, where that is not well, what
to do.
"""
