#!/usr/bin/env bash
# Sets everything up and shows both algorithms on a real data set, beside the paper's figures.
. "$(dirname "${BASH_SOURCE[0]}")/environment.sh" river
exec .venv/bin/python -m boostline.lab.demo "$@"
