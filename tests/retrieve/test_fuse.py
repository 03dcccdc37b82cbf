import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rewriteguard.errors import InputError, PolicyError
from rewriteguard.retrieve.fuse import Hit, fuse, margins, reciprocal_rank_fusion


def obvious(rankings, weights, k):
    """Scores every item by looking for it in every list, the slow way."""
    items = []
    for ranking in rankings:
        for item in ranking:
            if item not in items:
                items.append(item)

    def score(item):
        terms = []
        for ranking, weight in zip(rankings, weights, strict=True):
            distinct = []
            for other in ranking:
                if other not in distinct:
                    distinct.append(other)
            if item in distinct:
                terms.append(weight / (k + distinct.index(item) + 1))
        return math.fsum(terms)

    return sorted(items, key=score, reverse=True)


lists = st.lists(st.lists(st.integers(0, 12), max_size=12), max_size=5)


@given(lists, st.data())
def test_equals_the_obvious_version(rankings, data):
    weights = data.draw(st.lists(st.sampled_from([0, 0.5, 1, 2, 4]), min_size=len(rankings), max_size=len(rankings)))
    k = data.draw(st.sampled_from([0, 2, 60]))
    assert reciprocal_rank_fusion(rankings, weights=weights, k=k) == obvious(rankings, weights, k)


@given(st.lists(st.lists(st.lists(st.integers(0, 3), max_size=2), max_size=8), max_size=4))
def test_items_that_cannot_be_hashed(rankings):
    assert reciprocal_rank_fusion(rankings) == obvious(rankings, [1] * len(rankings), 60)


def test_default_constant_and_equal_weights():
    fused = fuse([["a", "b"], ["b"]])
    assert [(each.item, each.score) for each in fused] == [("b", 1 / 62 + 1 / 61), ("a", 1 / 61)]
    assert fused[0].ranks == ((0, 2), (1, 1))


def test_a_duplicate_counts_once_and_what_is_behind_it_moves_up():
    assert reciprocal_rank_fusion([["a", "a", "b"], ["b", "c"]], k=0) == ["b", "a", "c"]
    assert dict(fuse([["a", "a", "b"]])[1].ranks) == {0: 2}


def test_ties_go_to_the_earlier_list_then_to_the_earlier_rank():
    assert reciprocal_rank_fusion([["x"], ["y"]]) == ["x", "y"]
    assert reciprocal_rank_fusion([["a", "b"], ["b", "a"]]) == ["a", "b"]
    # three lists whose sums differ only in the order of adding
    rankings = [["a", "b", "c"], ["b", "c", "a"], ["c", "a", "b"]]
    assert reciprocal_rank_fusion(rankings) == ["a", "b", "c"]


def test_equal_ranks_tie_whatever_the_order_of_adding():
    # 1/61 + 1/62 + 1/67 and 1/67 + 1/61 + 1/62 differ in floating point when added from left to right
    lists = [["a", *"1234", "z", "b"], ["b", "a"], [*"v", "b", *"wxyt", "a"]]
    first, second = (next(each for each in fuse(lists) if each.item == name) for name in "ab")
    assert sorted(rank for _, rank in first.ranks) == sorted(rank for _, rank in second.ranks) == [1, 2, 7]
    assert first.score == second.score


def test_the_first_list_s_object_is_returned():
    first, second = {"id": 1, "from": "original"}, {"id": 1, "from": "rewrite"}
    assert reciprocal_rank_fusion([[first], [second]], key=lambda item: item["id"]) == [first]


def test_weights_and_small_k():
    assert reciprocal_rank_fusion([["a"], ["b"]], weights=[1, 4], k=2) == ["b", "a"]
    assert reciprocal_rank_fusion([["a"], ["b"]], weights=[1, 0]) == ["a", "b"]
    assert reciprocal_rank_fusion([]) == []


@pytest.mark.parametrize(
    ("arguments", "error", "says"),
    [
        ({"rankings": [["a"], "bc"]}, InputError, r"rankings\[1\].*str"),
        ({"rankings": "ab"}, InputError, "rankings: .*str"),
        ({"rankings": [["a"], 3]}, InputError, r"rankings\[1\].*int"),
        ({"rankings": [["a"]], "weights": [1, 2]}, PolicyError, "each of the 1 rankings, got 2"),
        ({"rankings": [["a"]], "weights": [-1]}, PolicyError, r"weights\[0\].*-1"),
        ({"rankings": [["a"]], "weights": [math.nan]}, PolicyError, r"weights\[0\].*nan"),
        ({"rankings": [["a"]], "k": -1}, PolicyError, "k: .*-1"),
        ({"rankings": [["a"]], "k": math.inf}, PolicyError, "k: .*inf"),
    ],
)
def test_bad_arguments(arguments, error, says):
    with pytest.raises(error, match=says):
        reciprocal_rank_fusion(**arguments)


def ranking(*scores):
    return [Hit(place, score) for place, score in enumerate(scores)]


def test_margin_is_the_drop_to_the_twentieth_score():
    long = [10.0] + [5.0] * 18 + [4.0, 1.0]
    assert margins([ranking(*long), ranking(2.0, 1.0)]) == (0.6, 0.5)


def test_margin_has_a_floor():
    assert margins([ranking(1.0, 1.0), ranking(4.0, 3.0)]) == (0.02, 0.25)


@pytest.mark.parametrize(
    "spoiler",
    [
        ranking(3.0),
        ranking(0.0, -1.0),
        ranking(2.0, 1.0, None),
        ranking(2.0, 1.0, math.nan),
        ranking(math.inf, 2.0, 1.0),
        ranking(0.1, 0.4, 0.9),
        ranking(3.0, 1.0, 2.0),
    ],
    ids=["single", "zero", "none", "nan", "inf", "distances", "rising"],
)
def test_margins_that_would_not_compare_are_all_one(spoiler):
    assert margins([ranking(4.0, 1.0), spoiler]) == (1.0, 1.0)


def test_an_arm_without_hits_has_no_say():
    assert margins([ranking(4.0, 1.0), []]) == (0.75, 1.0)


def test_margins_of_several_searches_are_divided_by_their_mean_in_each():
    words, vectors = (ranking(4.0, 1.0), ranking(4.0, 3.0)), (ranking(0.8, 0.4), ranking(0.8, 0.4))
    found = margins([words[0], vectors[0], words[1], vectors[1]], ["words", "vectors", "words", "vectors"])
    assert found == (1.5, 1.0, 0.5, 1.0)
    without = margins([words[0], ranking(None, None), words[1], ranking(0.8, 0.4)], ["w", "v", "w", "v"])
    assert without == (1.5, 1.0, 0.5, 1.0)
