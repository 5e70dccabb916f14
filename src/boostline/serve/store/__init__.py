"""The store: the log in SQLite, group commit, snapshots in files, the lock of the one server.

Only this folder knows SQLite. The rest of the service uses: `log.Log` to read events, `writer.Writer` and
`writer.CommitQueue` to append them, `snapshots.Snapshots` for the files, `store_lock.StoreLock` to be alone.
"""
