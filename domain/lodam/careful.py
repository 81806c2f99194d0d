"""placeholder"""

CAREFUL = None
