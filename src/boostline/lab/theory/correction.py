"""Why the printed bound of Ada.OLMR is false, by exact computation.

The proof bounds sum_j a_j e^{-alpha b_j} by e^{-alpha gamma}, with weights a_j that sum to 1 and
gamma = sum_j a_j b_j: Jensen's inequality the wrong way round. At b = +-1 the true minimum over
alpha is sqrt(1 - gamma^2), about 1 - gamma^2 / 2, and not 1 - |gamma| / 2 or less. The theorem
falls with the step: many independent learners with a small edge cannot be combined that well.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from boostline.lab.theory.binomial import binomial_tail

__all__ = ["Counterexample", "counterexample", "majority_loss", "proof_step"]


def majority_loss(n_learners: int, edge: float) -> float:
    """Expected rank loss of the majority of N independent learners with k = 2: a binomial tail.

    Each votes for the relevant label with probability (1 + edge) / 2; a tie costs one half. The
    majority is the best use of such votes, so no booster loses less on average.

    Examples
    --------
    >>> round(majority_loss(3, 0.0), 12), round(majority_loss(20_000, 0.002), 4)
    (0.5, 0.3886)
    """
    if not 0.0 <= edge < 1.0:
        raise ValueError(f"edge is {edge}, but must lie in [0, 1)")
    n, wrong = n_learners, (1.0 - edge) / 2.0
    # More than half are wrong, and at least half are: these differ by the ties.
    tails = (binomial_tail(least, n, wrong) for least in (n // 2 + 1, (n + 1) // 2))
    return math.fsum(tails) / 2


class ProofStep(NamedTuple):
    """The step at b = +-1, per unit of ||w^i||_1."""

    minimum: float
    claimed: float
    corrected: float


def proof_step(edge: float) -> ProofStep:
    """Minimum over alpha in [-2, 2] of sum a_j (e^{-alpha b_j} - 1) when every b_j is +1 or -1.

    The paper claims that it is at most -|gamma|/2; it is sqrt(1 - gamma^2) - 1. True for any b in
    [-1, 1] is -gamma^2/2.

    Examples
    --------
    >>> step = proof_step(0.1)
    >>> round(step.minimum, 6), step.claimed, round(step.corrected, 6)
    (-0.005013, -0.05, -0.005)
    """
    # By brute force on purpose: the closed form is what is to be shown.
    alpha = np.linspace(-2.0, 2.0, 400_001)
    values = (1 + edge) / 2 * np.exp(-alpha) + (1 - edge) / 2 * np.exp(alpha) - 1.0
    return ProofStep(float(values.min()), -abs(edge) / 2, -(edge**2) / 2)


class Counterexample(NamedTuple):
    """Asymptotic loss per round: exact, as printed, as corrected."""

    exact: float
    printed: float
    corrected: float

    @property
    def refutes(self) -> bool:
        """True if no booster can keep the printed bound."""
        return self.exact > self.printed


def counterexample(n_learners: int = 20_000, edge: float = 0.002) -> Counterexample:
    """k = 2 and N independent learners whose empirical edges tend to ``edge`` as T grows.

    Examples
    --------
    >>> case = counterexample()
    >>> round(case.exact, 3), case.printed, case.refutes, case.corrected > case.exact
    (0.389, 0.2, True, True)
    """
    return Counterexample(
        exact=majority_loss(n_learners, edge),
        printed=8.0 / (n_learners * edge),
        corrected=8.0 * math.log(2.0) / (n_learners * edge**2),
    )
