"""Where tasks run: processes of this machine, Dask, Spark; a class in a file each."""

from boostline.scale.engines.engine import Engine, run_all
from boostline.scale.engines.local import LocalEngine
from boostline.scale.engines.processes import WorkerError

__all__ = ["Engine", "LocalEngine", "WorkerError", "run_all"]
