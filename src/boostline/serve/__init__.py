"""An HTTP service around a model: it ranks, accepts the correct labels later, and learns from them.

The log is the truth. Every ranking and every piece of feedback is an event in one append-only table. A model is a
function of the log: a snapshot at an offset plus the events after it, learned in their order. So a process that was
killed comes back to the same bytes, a challenger is a second model of the same log, and an audit is a replay.

- ``store``: the log on disk, group commit, the lock.
- ``live``: the models that learn from the log, and what requests do to them.
- ``ops``: status, metrics, verification, export, compaction.
- ``http``: requests and responses, tokens, the page.

Each folder imports only those above it. `client` is for users
of the service. Needs the extra ``serve``: ``pip install 'boostline[serve]'``.
"""
