"""The log on disk: events, group commit, the lock of the one server."""
