"""More than one process or machine: statistics of parts of the data, merged to one model.

`partial` turns rows into statistics, `merge` adds them up and `finish` makes a model of them. These are plain functions
that any engine can call; `boostline.dask` and `boostline.spark` do so.
"""

from boostline.scale.collecting import partial
from boostline.scale.finishing import finish
from boostline.scale.partials import Partial, merge

__all__ = ["Partial", "finish", "merge", "partial"]
