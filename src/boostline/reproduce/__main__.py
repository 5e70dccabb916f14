"""``python -m boostline.reproduce``: the same as ``boostline reproduce``."""

from __future__ import annotations

import sys

from boostline.cli import main

if __name__ == "__main__":
    main(["reproduce", *sys.argv[1:]])
