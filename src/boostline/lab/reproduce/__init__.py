"""The paper's experiments in one call, with the truth beside them: `boostline reproduce`.

`run` runs data sets x algorithms x edges x seeds x orders, keeps each finished run, and writes tables
and a report: the paper's Table 2 and Table 3 with ours beside them.
"""

from boostline.lab.reproduce.all_runs import Result, run
from boostline.lab.reproduce.plan import Settings
from boostline.lab.reproduce.summary import Summary
from boostline.lab.reproduce.workers import ClusterError

__all__ = ["ClusterError", "Result", "Settings", "Summary", "run"]
