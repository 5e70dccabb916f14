"""Online boosting for multi-label ranking."""

__version__ = "0.1.0"
