"""The models that learn from the log, and what requests do to them."""
