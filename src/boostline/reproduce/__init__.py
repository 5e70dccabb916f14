"""The paper's experiments in one call, with the truth beside them: `boostline reproduce`.

`run` runs data sets x algorithms x edges x seeds x orders, keeps each finished run, and writes tables
and a report: the paper's Table 2 and Table 3 with ours beside them.
"""

from boostline.reproduce.plan import Settings
from boostline.reproduce.running import Result, run
from boostline.reproduce.spread import ClusterError
from boostline.reproduce.summary import Summary

__all__ = ["ClusterError", "Result", "Settings", "Summary", "run"]
