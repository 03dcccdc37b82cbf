"""Shares and their intervals."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
from statsmodels.stats.proportion import proportion_confint

from rewriteguard.evaluation.figure import Figure, share


@pytest.mark.parametrize(("count", "n"), [(0, 7), (7, 7), (3, 8), (513, 540), (164, 200), (1, 10_000)])
def test_intervals_of_shares_are_wilsons(count: int, n: int) -> None:
    found = share(count, n)
    assert (found.value, found.n, found.count) == (count / n, n, count)
    assert (found.low, found.high) == pytest.approx(proportion_confint(count, n, method="wilson"), abs=1e-9)


def test_reference_shares_are_printed_as_known() -> None:
    assert f"{share(513, 540).value:.1%} of constraints, {share(164, 200).value:.1%} of requests" == (
        "95.0% of constraints, 82.0% of requests"
    )


def test_a_share_of_nothing_has_no_value() -> None:
    assert share(0, 0) == Figure(None, 0, count=0)
    assert json.loads(json.dumps(share(0, 0).to_dict()))["value"] is None


def test_the_audit_page_loads_no_statistics() -> None:
    script = "import rewriteguard.evaluation.figure, sys; print('numpy' in sys.modules, 'spacy' in sys.modules)"
    said = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout
    assert said.split() == ["False", "False"]
    script = (
        "import rewriteguard.report.audit.page, sys; "
        "print(sorted({'scipy', 'statsmodels', 'pandas'} & set(sys.modules)))"
    )
    said = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout
    assert said.strip() == "[]"
