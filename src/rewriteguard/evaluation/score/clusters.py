"""Which cases depend on each other: the clusters that a bootstrap draws."""

from __future__ import annotations

from collections.abc import Iterable

from rewriteguard.evaluation.cases.case import Case

_Key = tuple[str, str]  # what names a case, and its name: a conversation and a family may have one name


def clusters_of(cases: Iterable[Case]) -> dict[str, str]:
    """The cluster of each case by its id; a cluster is named by the id of its first case.

    Cases of one conversation are in one cluster, and so are those of one family. A family that holds cases of two
    conversations thus joins these.
    """
    leads: dict[_Key, _Key] = {}
    named: dict[_Key, str] = {}
    known = tuple(cases)
    for case in known:
        first, *others = _keys(case)
        for other in others:
            leads[_end(other, leads)] = _end(first, leads)
    return {case.id: named.setdefault(_end(("case", case.id), leads), case.id) for case in known}


def _keys(case: Case) -> list[_Key]:
    keys = [("case", case.id), ("conversation", case.conversation), ("family", case.family)]
    return [key for key in keys if key[1]]


def _end(key: _Key, leads: dict[_Key, _Key]) -> _Key:
    """What all keys of one cluster lead to; every key on the way leads there from now on."""
    end = key
    while (ahead := leads.get(end, end)) != end:
        end = ahead
    while key != end:
        leads[key], key = end, leads[key]
    return end
