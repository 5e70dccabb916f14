"""Where tasks run: processes of this machine, Dask, Spark; a class in a file each."""

from boostline.scale.engines.engine import Engine, WorkerError, advancing
from boostline.scale.engines.local import LocalEngine

__all__ = ["Engine", "LocalEngine", "WorkerError", "advancing"]
