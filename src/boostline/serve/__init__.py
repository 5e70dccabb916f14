"""A ranker in service: one command turns a model into an HTTP service that ranks, takes labels back later and learns.

The log is the truth. Every ranking that was served and every piece of feedback is an event in one append-only table
(`log`; `outbox` gathers what is to be written, `writer` writes it). A model is a fold over the log (`fold`): a snapshot
at an offset (`snapshots`) and the events after it, learned in their order by one thread (`follower`). So a process that
was killed comes back to the same bytes, a challenger is another fold over the same log, and an audit is a replay.

`service` decides what becomes of a request, `requests` reads it, `app` speaks HTTP, `command` is the shell's door.
Needs the extra ``serve``: ``pip install 'boostline[serve]'``.
"""
