"""Models as files: one file each, safe to load from a stranger.

`model_files` has the rules, `container` the bytes (safetensors), `python_states` what learners written in Python hand
over, `claims` and `limits` what a file may ask for, `atomic` how a file takes another one's place.
"""

from boostline.saving.errors import LoadError, SaveError
from boostline.saving.model_files import FORMAT, load, load_with_extra, read_header, save

__all__ = [
    "FORMAT",
    "LoadError",
    "SaveError",
    "load",
    "load_with_extra",
    "read_header",
    "save",
]
