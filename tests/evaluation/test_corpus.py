"""The built-in search: BM25 with ties in the order of the corpus, and what a corpus file may hold."""

from __future__ import annotations

import hashlib
import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import bm25s
import pytest
import Stemmer

from rewriteguard.evaluation.cases.case import Case
from rewriteguard.evaluation.errors import CorpusError
from rewriteguard.evaluation.figure import plain
from rewriteguard.evaluation.run.outcome import ArmName, Ended, Outcome
from rewriteguard.evaluation.run.search import Bm25, Corpus, Passage
from rewriteguard.evaluation.score.assemble import missing_words
from rewriteguard.telemetry.content import identity_of

TEXTS = [
    "The tram runs daily.",
    "Trams ran daily.",
    "A ferry crosses.",
    "The tram runs daily.",
    "",
    "Ferries cross daily",
]


def test_scores_are_those_of_bm25s() -> None:
    stemmer = Stemmer.Stemmer("english")
    theirs = bm25s.BM25(k1=1.2, b=0.75)
    theirs.index(bm25s.tokenize(TEXTS, stopwords="en", stemmer=stemmer, show_progress=False), show_progress=False)
    for query in ("daily trams", "the ferry", "tram tram ferry unknown"):
        asked = bm25s.tokenize([query], stopwords="en", stemmer=stemmer, show_progress=False)
        _, scores = theirs.retrieve(asked, k=6, show_progress=False)
        ours = Bm25(TEXTS).search(query, 6)
        assert [score for _, score in ours] == [float(score) for score in scores[0] if score > 0]
        assert ours


def test_ties_are_in_the_order_of_the_texts_at_every_depth() -> None:
    index = Bm25(["tram ferry"] * 50)
    for k in (1, 7, 50, 80):
        assert [place for place, _ in index.search("tram", k)] == list(range(min(k, 50)))


@pytest.mark.parametrize("query", ["", "   ", "the of", "zebra", "?"])
def test_a_query_without_known_words_finds_nothing(query: str) -> None:
    assert Bm25(TEXTS).search(query, 5) == []


@pytest.mark.parametrize("texts", [[], [""], ["the", "of"]])
def test_a_corpus_without_words_finds_nothing(texts: list[str]) -> None:
    assert Bm25(texts).search("tram", 5) == []


def test_it_may_be_searched_from_several_threads() -> None:
    index = Bm25([f"tram {word} ferry" for word in ("daily", "weekly", "yearly")] * 40)
    queries = [f"trams {word} running" for word in ("daily", "weekly", "yearly")] * 60
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(lambda q: index.search(q, 9), queries)) == [index.search(q, 9) for q in queries]


def write(path: Path, *rows: object) -> Path:
    path.write_text("".join(f"{row if isinstance(row, str) else json.dumps(row)}\n" for row in rows), "utf-8")
    return path


def test_a_file_is_read_and_named_by_its_digest(tmp_path: Path) -> None:
    path = write(
        tmp_path / "corpus.jsonl", {"id": 7, "text": "runs daily"}, "", {"id": "b", "title": "Tram", "text": "x"}
    )
    corpus = Corpus.read(path)
    assert corpus.passages == (Passage("7", "runs daily"), Passage("b", "x", "Tram"))
    assert corpus.fingerprint == f"sha256:{hashlib.sha256(path.read_bytes()).hexdigest()}"
    (hit,) = corpus("trams", k=3)
    assert identity_of(hit.item) == "b"
    assert hit.score is not None
    assert hit.score > 0


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("{", "line 2: Expecting"),
        ([], "line 2: expected an object with 'id' and 'text', got list"),
        ({"text": "x"}, "line 2: id: expected text or a whole number, got None"),
        ({"id": True, "text": "x"}, "line 2: id: expected"),
        ({"id": "", "text": "x"}, "line 2: id: expected"),
        ({"id": "b"}, "line 2: text: expected text, got None"),
        ({"id": "b", "text": "x", "title": 3}, "line 2: title: expected text, got 3"),
        ({"id": "a", "text": "x"}, "expected each id once, got 'a' several times"),
    ],
)
def test_a_line_that_cannot_be_read_is_named(tmp_path: Path, row: object, message: str) -> None:
    path = write(tmp_path / "corpus.jsonl", {"id": "a", "text": "x"}, row)
    with pytest.raises(CorpusError, match=message):
        Corpus.read(path)


def test_fingerprints_of_passages_tell_them_apart() -> None:
    one = [Passage("a", "x"), Passage("b", "y")]
    assert Corpus(one).fingerprint == Corpus(list(one)).fingerprint
    assert len({Corpus(each).fingerprint for each in (one, one[::-1], one[:1], [Passage("a", "xy"), one[1]])}) == 4
    assert Corpus(one, "June").fingerprint == "June"


def test_the_vocabulary_counts_documents() -> None:
    corpus = Corpus([Passage("a", "Tram, tram's e-bike", "Lines"), Passage("b", "a tram")])
    assert corpus.vocabulary() == {"tram": 2, "e": 1, "bike": 1, "lines": 1, "a": 1}


def test_missing_words_are_counted_for_each_rewriter() -> None:
    cases = [Case("1", "which tram?"), Case("2", "which zebra?")]

    def outcome(case: str, label: str, rewrite: str | None, arm: ArmName = ArmName.REWRITE) -> Outcome:
        return Outcome(case, arm, label, Ended.OK, rewrite=rewrite)

    found = missing_words(
        ["which", "tram"],
        cases,
        [
            outcome("1", "x", "which streetcar"),
            outcome("1", "x", "which streetcar", ArmName.GUARDED),
            outcome("2", "x", "Which zebra streetcar?"),
            outcome("2", "y", "which tram"),
            outcome("1", "", None, ArmName.ORIGINAL),
        ],
    )
    assert plain(found["x"].words) == [
        {"word": "streetcar", "rows": 2, "by_user": 0, "places": ["1", "2"], "example": "which streetcar"},
        {"word": "zebra", "rows": 1, "by_user": 1, "places": ["2"], "example": "Which zebra streetcar?"},
    ]
    assert found["y"].words == ()
