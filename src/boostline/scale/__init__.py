"""More than one process or machine: statistics of parts of the data, merged to one model.

`partial` turns rows into statistics, `merge` adds them up and `finish` makes a model of them. These are plain functions
that any engine can call. `warm_start`, `score`, `rank_files` and `evaluate` do the whole job with the processes of one
machine, and `learn_by_key` keeps a model for each key; with ``engine=`` (`boostline.scale.engines`) they do it on a
cluster.
"""

from boostline.scale.batch import evaluate, rank_files, score
from boostline.scale.engines import WorkerError
from boostline.scale.history import warm_start
from boostline.scale.many_models import LearnedByKey, learn_by_key
from boostline.scale.merging import Partial, finish, merge, partial
from boostline.scale.model_store import ModelStore

__all__ = [
    "LearnedByKey",
    "ModelStore",
    "Partial",
    "WorkerError",
    "evaluate",
    "finish",
    "learn_by_key",
    "merge",
    "partial",
    "rank_files",
    "score",
    "warm_start",
]
