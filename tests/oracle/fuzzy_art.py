"""Fuzzy ART, dual vigilance fuzzy ART and fuzzy ARTMAP, sample by sample and box by box.

Xc holds complement-coded samples in the order of presentation.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from .art import eq_fa_learn, eq_fa_m, eq_fa_t, eq_fa_vig, search_order
from .map_field import eq_mf_vig, map_field_learn, map_field_match

Array = NDArray[np.float64]


@dataclass
class Net:
    """Boxes, the cluster of each (dual vigilance) and its map field row (fuzzy ARTMAP)."""

    W: list[Array] = field(default_factory=list)
    cluster: list[int] = field(default_factory=list)
    M: list[Array] = field(default_factory=list)


def by_choice(net: Net, x: Array, alpha: float) -> list[int]:
    return search_order(eq_fa_t(x, np.array(net.W), alpha)) if net.W else []


def fuzzy_art_step(net: Net, x: Array, rho: float, alpha: float, beta: float) -> int:
    """The first box by choice that passes the vigilance learns x; else x becomes a box."""
    for j in by_choice(net, x, alpha):
        if eq_fa_vig(eq_fa_m(x, net.W[j]), rho):
            net.W[j] = eq_fa_learn(x, net.W[j], beta)
            return j
    net.W.append(x.copy())
    net.cluster.append(len(net.W) - 1)
    return len(net.W) - 1


def dual_vigilance_step(
    net: Net, x: Array, rho_ub: float, rho_lb: float, alpha: float, beta: float
) -> int:
    """Box by box: learn if it passes rho_ub; a new box of its cluster if it passes rho_lb."""
    owner = max(net.cluster, default=-1) + 1
    for j in by_choice(net, x, alpha):
        match = eq_fa_m(x, net.W[j])
        if eq_fa_vig(match, rho_ub):
            net.W[j] = eq_fa_learn(x, net.W[j], beta)
            return j
        if eq_fa_vig(match, rho_lb):
            owner = net.cluster[j]
            break
    net.W.append(x.copy())
    net.cluster.append(owner)
    return len(net.W) - 1


def artmap_step(
    net: Net,
    x: Array,
    y: Array,
    rho_a: float,
    rho_ab: float,
    alpha: float,
    beta: float,
    epsilon: float,
    beta_ab: float,
) -> int:
    """Box by box: one that passes rho but not the map field sets rho to its match + epsilon."""
    rho = rho_a
    for j in by_choice(net, x, alpha):
        match = eq_fa_m(x, net.W[j])
        if not eq_fa_vig(match, rho):
            continue
        if eq_mf_vig(map_field_match(y, net.M[j]), rho_ab):
            net.W[j] = eq_fa_learn(x, net.W[j], beta)
            net.M[j] = map_field_learn(y, net.M[j], beta_ab)
            return j
        rho = max(rho_a, match + epsilon)
    net.W.append(x.copy())
    net.M.append(map_field_learn(y, np.ones(len(y)), beta_ab))
    return len(net.W) - 1


def drop_idle(net: Net, categories: list[int]) -> tuple[Net, list[int]]:
    """Without boxes that no sample is in; boxes and clusters numbered anew, in their order."""
    kept = sorted(set(categories))
    old = sorted({net.cluster[j] for j in kept}) if net.cluster else []
    return (
        Net(
            [net.W[j] for j in kept],
            [old.index(net.cluster[j]) for j in kept] if net.cluster else [],
            [net.M[j] for j in kept] if net.M else [],
        ),
        [kept.index(j) for j in categories],
    )
