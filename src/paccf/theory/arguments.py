"""The conditions under which the paper's formulas mean anything; each refusal names the number and a remedy.

Symbols are spelled as in the paper: sigma, arms = |A_t|, delta, L, epsilon, gap = Delta_m.
"""

from __future__ import annotations

import math


def finite(name: str, value: float) -> float:
    """``value``, if it is a finite number."""
    if not math.isfinite(value):
        raise ValueError(f"{name} is {value}; give a finite number")
    return value


def positive(name: str, value: float) -> float:
    """``value``, if it is finite and above zero."""
    if not finite(name, value) > 0:
        raise ValueError(f"{name} is {value}; give a number above 0")
    return value


def not_negative(name: str, value: float) -> float:
    """``value``, if it is finite and at least zero."""
    if not finite(name, value) >= 0:
        raise ValueError(f"{name} is {value}; give 0 or a number above it")
    return value


def count(name: str, value: float) -> float:
    """``value``, if it is finite and at least one. Reals are accepted: inverted formulas give them."""
    if not finite(name, value) >= 1:
        raise ValueError(f"{name} is {value}; give 1 or more")
    return value


def probability(name: str, value: float, below: float = 1.0) -> float:
    """``value``, if it lies strictly between 0 and ``below``."""
    if not 0 < value < below:  # false for NaN too
        raise ValueError(f"{name} is {value}; give a number strictly between 0 and {below:g}, such as 0.05")
    return value
