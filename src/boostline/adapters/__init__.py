"""What the adapters to other libraries share."""
