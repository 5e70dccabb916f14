"""The service over HTTP: requests and responses, tokens, the page."""
