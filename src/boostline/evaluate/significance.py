"""Whether models differ by more than chance: paired tests over runs or rows, and over several data sets.

For two models the Wilcoxon signed-rank test of paired values. For several models on several data sets Friedman's test
of their mean ranks, and Nemenyi's critical difference between two of them (J. Demšar, "Statistical comparisons of
classifiers over multiple data sets", JMLR 7, 2006). SciPy is needed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from boostline.array_types import FloatArray

_FEWEST_PAIRS = 6  # below, no result of the signed-rank test can be significant at 5 %


@dataclass(frozen=True)
class PairedTest:
    """The result of `wilcoxon`.

    Attributes
    ----------
    n
        Number of pairs.
    difference
        Median of first minus second.
    p_value
        Probability of a difference as large by chance; NaN with fewer than 6 pairs, where the test cannot tell.
    """

    n: int
    difference: float
    p_value: float

    def __str__(self) -> str:
        if np.isnan(self.p_value):
            return f"{self.n} pairs are too few to tell (at least {_FEWEST_PAIRS})"
        return f"median difference {self.difference:+.4f}, p = {self.p_value:.3g} ({self.n} pairs)"


@dataclass(frozen=True)
class RankTest:
    """The result of `friedman_nemenyi`.

    Attributes
    ----------
    mean_ranks
        Model -> its mean rank over the data sets, 1 is the best.
    p_value
        Of Friedman's test: probability of such ranks if all models were equally good.
    critical_difference
        Mean ranks that differ by more are different at the 5 % level (Nemenyi).
    n_sets
        Number of data sets.
    """

    mean_ranks: dict[str, float]
    p_value: float
    critical_difference: float
    n_sets: int

    def differ(self, a: str, b: str) -> bool:
        """Whether two models differ by more than chance."""
        return abs(self.mean_ranks[a] - self.mean_ranks[b]) > self.critical_difference

    def __str__(self) -> str:
        ranks = ", ".join(
            f"{name} {rank:.2f}"
            for name, rank in sorted(self.mean_ranks.items(), key=lambda p: p[1])
        )
        return (
            f"mean ranks over {self.n_sets} sets: {ranks}; Friedman p = {self.p_value:.3g}, critical difference "
            f"{self.critical_difference:.2f}"
        )


def wilcoxon(first: Any, second: Any) -> PairedTest:
    """Wilcoxon's signed-rank test of paired values: runs with the same seed, or the same rows.

    Examples
    --------
    >>> a = [0.10, 0.12, 0.11, 0.13, 0.09, 0.10, 0.12]
    >>> b = [0.14, 0.15, 0.13, 0.16, 0.12, 0.15, 0.14]
    >>> print(wilcoxon(a, b))
    median difference -0.0300, p = 0.0156 (7 pairs)
    """
    a, b = (np.asarray(values, dtype=np.float64) for values in (first, second))
    if a.ndim != 1 or a.shape != b.shape:
        raise ValueError(
            f"first has shape {a.shape} and second {b.shape}, but must be two lists of paired values"
        )
    difference = a - b
    median = float(np.median(difference)) if a.size else float("nan")
    if a.size < _FEWEST_PAIRS:
        return PairedTest(a.size, median, float("nan"))
    if not difference.any():
        return PairedTest(a.size, 0.0, 1.0)
    from scipy import stats

    return PairedTest(a.size, median, float(stats.wilcoxon(a, b).pvalue))


def friedman_nemenyi(
    values: Mapping[str, Sequence[float]], *, bigger_is_better: bool = False
) -> RankTest:
    """Friedman's test and Nemenyi's critical difference of several models on several data sets.

    Parameters
    ----------
    values
        Model -> one figure per data set, in the same order.
    bigger_is_better
        Whether a large figure is good; for losses it is not.

    Examples
    --------
    >>> found = friedman_nemenyi({"a": [1, 2, 1, 2, 1, 1], "b": [2, 3, 3, 3, 2, 2], "c": [3, 4, 5, 4, 6, 5]})
    >>> found.mean_ranks, round(found.critical_difference, 2), found.differ("a", "c")
    ({'a': 1.0, 'b': 2.0, 'c': 3.0}, 1.35, True)
    """
    from scipy import stats

    names = list(values)
    table: FloatArray = np.array([values[name] for name in names], dtype=np.float64)
    if table.ndim != 2 or len(names) < 3 or table.shape[1] < 2:
        raise ValueError(
            f"values has {len(names)} models and figures of shape {table.shape[1:]}, but must have at least 3 models "
            "with the same number of figures, at least 2; for two models use wilcoxon"
        )
    ranks = stats.rankdata(-table if bigger_is_better else table, axis=0)
    m, n = table.shape
    same = (ranks == ranks[:, :1]).all() and (ranks == ranks[:1]).all()
    p_value = 1.0 if same else float(stats.friedmanchisquare(*table).pvalue)
    # The studentised range for infinitely many degrees of freedom, over the square root of 2.
    q = float(stats.studentized_range.ppf(0.95, m, np.inf)) / np.sqrt(2)
    return RankTest(
        mean_ranks={
            name: float(rank) for name, rank in zip(names, ranks.mean(axis=1), strict=True)
        },
        p_value=p_value,
        critical_difference=float(q * np.sqrt(m * (m + 1) / (6 * n))),
        n_sets=n,
    )
