"""Ada.OLMR with the paper's steps and with AdaGrad's: ``python benchmarks/steps.py [sets] --seeds 10``.

100 of the paper's trees, in file order and shuffled, train then test (the test rows are ranked, then learned): mean
rank loss over seeds, the difference seed by seed with its standard error, and the bound B on the best expert over the
rounds with a pair (docs/theory.md). BOOSTLINE_DATA names the folder of the data.
"""

from __future__ import annotations

import argparse

import numpy as np

import boostline as bl
from boostline.lab.theory import bounds

SETS = ["emotions", "scene", "yeast", "m-reduced", "mediamill"]


def measure(data: bl.data.Dataset, steps: str, order: str, seeds: int) -> tuple[np.ndarray, float]:
    """Rank losses, one for each seed, and the mean of B / T."""
    losses, shares = [], []
    for seed in range(seeds):
        model = bl.AdaOLMR(
            data.Y.shape[1], learners=bl.learners.paper_trees(100), steps=steps, seed=seed
        )
        losses.append(bl.evaluate.train_then_test(model, data, order=order, seed=seed).rank_loss)
        bound = bounds.ada_olmr_best_expert(model)
        shares.append(bound.total / (2 * bound.trivial))
    return np.array(losses), float(np.mean(shares))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("sets", nargs="*", default=SETS)
    parser.add_argument("--seeds", type=int, default=10)
    arguments = parser.parse_args()
    for name in arguments.sets:
        data = bl.data.load(name)
        for order in ("file", "shuffled"):
            paper, paper_share = measure(data, "paper", order, arguments.seeds)
            adagrad, share = measure(data, "adagrad", order, arguments.seeds)
            gap = adagrad - paper
            error = gap.std(ddof=1) / np.sqrt(len(gap)) if len(gap) > 1 else np.nan
            print(
                f"{name:10} {order:8} paper {paper.mean():.4f}  adagrad {adagrad.mean():.4f}  "
                f"{gap.mean():+.4f} ± {error:.4f}  B/T {paper_share:.2f} and {share:.2f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
