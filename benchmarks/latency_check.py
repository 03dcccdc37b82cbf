"""`Guard.check` beside two calls of the full pipeline on turn and rewrite, on the same texts in the same rounds."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import islice

from spacy.language import Language

from latency_timing import Call, Figure, Figures, compared, quantile, ratios, seconds, side_by_side, spread
from latency_workload import OTHER_TURN, Bench, Triple
from rewriteguard import Guard
from rewriteguard.language.pipeline import english

Rounds = Iterator[Mapping[str, Call]]
LENGTHS = (1, 2, 5, 10, 20, 50)
_OWN_MESSAGES = 8  # of the conversation itself; what a history has beyond them is other conversations' messages
_LONG = 2_000  # words


def warm(bench: Bench) -> Figures:
    """Messages read before, turn and rewrite new to the guard; beside the guard's own smaller pipeline as well."""

    def rounds() -> Rounds:
        for guard, triple in _seen(bench):
            if not triple.is_identical:
                own = _two_calls(english(), triple.turn, triple.rewrite)
                yield _arms(bench, guard, triple, triple.rewrite) | {"own": own}

    times = side_by_side(islice(rounds(), bench.some(1_000, 60)))
    return compared("warm", times, "guard", "floor") | ratios("warm-own", times["guard"], times["own"])


def identical(bench: Bench) -> Figures:
    """The same, where the rewriter gives the turn back as it was."""
    rounds = (_arms(bench, guard, triple, triple.turn) for guard, triple in _seen(bench))
    return compared("identical", side_by_side(islice(rounds, bench.some(200, 40))), "guard", "floor")


def running(bench: Bench) -> Figures:
    """A conversation as it goes on: what was answered since the last check is new as well."""

    def rounds() -> Rounds:
        for talk in bench.conversations:
            guard = Guard()
            for triple in talk:
                if triple.history and not triple.is_identical:
                    yield _arms(bench, guard, triple, triple.rewrite)
                else:
                    guard.check(triple.turn, triple.rewrite, triple.history)

    return compared("running", side_by_side(islice(rounds(), bench.some(1_000, 40))), "guard", "floor")


def cold(bench: Bench) -> Figures:
    """A conversation of eight messages, all of them new."""
    eight = [triple for triple in bench.rewritten if len(triple.history) == 8]
    rounds = (_arms(bench, Guard(), triple, triple.rewrite) for triple in eight[: bench.some(1_000, 12)])
    return compared("cold", side_by_side(rounds), "guard", "floor")


def repeated(bench: Bench) -> Figures:
    """The very same call again."""
    guard, times = Guard(), []
    for triple in bench.rewritten[: bench.some(100, 30)]:
        call = _check(guard, triple, triple.rewrite)
        call()
        times += [seconds(call) for _ in range(5)]
    return spread("repeated", times)


def growth(bench: Bench) -> Figures:
    """Histories of 1 to 50 messages that were all seen before; the same turns in the same rounds for each length."""
    foreign = [message for talk in bench.conversations[-6:] for message in talk[-1].history]
    lasts = [triple for triple in bench.rewritten if len(triple.history) >= _OWN_MESSAGES]
    spaced = lasts[:: max(1, len(lasts) // bench.some(40, 8))]
    guards = {length: Guard() for length in LENGTHS}

    def rounds() -> Rounds:
        for triple in spaced:
            arms: dict[str, Call] = {}
            for length, guard in guards.items():
                own = triple.history[-_OWN_MESSAGES:]
                history = (*foreign[: max(LENGTHS) - _OWN_MESSAGES], *own)[-length:]
                guard.check(*OTHER_TURN, history)
                arms[str(length)] = _check(guard, Triple("", triple.turn, triple.rewrite, history), triple.rewrite)
            yield arms

    times = side_by_side(rounds())
    found = {f"seen-{n}-p50": Figure(1e3 * quantile(times[str(n)], 0.5), len(times[str(n)]), "ms") for n in LENGTHS}
    growths = [long / short for long, short in zip(times["50"], times["5"], strict=True)]  # of one turn each
    return found | {"seen-50-to-5-x": ratios("", growths, [1.0] * len(growths))["-p50-x"]}


def long_messages(bench: Bench) -> Figures:
    """A history whose answer has 2,000 words, new and seen before; each message has other words."""
    answers = [text for talk in bench.conversations for role, text in talk[-1].history if role != "user"]
    words = " ".join(answers).split()
    texts = [" ".join(words[at : at + _LONG]) for at in range(0, len(words) - _LONG, _LONG)]
    triples = [
        Triple("", triple.turn, triple.rewrite, (triple.history[0], ("assistant", text)))
        for triple, text in zip(bench.rewritten[::7], texts[: bench.some(16, 6)], strict=False)
    ]

    def new() -> Rounds:
        return (_arms(bench, Guard(), triple, triple.rewrite) for triple in triples[::2])

    def seen() -> Rounds:
        for triple in triples[1::2]:
            guard = Guard()
            guard.check(*OTHER_TURN, triple.history)
            yield _arms(bench, guard, triple, triple.rewrite)

    return compared("long-cold", side_by_side(new()), "guard", "floor") | compared(
        "long-warm", side_by_side(seen()), "guard", "floor"
    )


def _seen(bench: Bench) -> Iterator[tuple[Guard, Triple]]:
    """Every triple with a history, and a guard that has read that history but neither turn nor rewrite."""
    for talk in bench.conversations:
        guard = Guard()
        for triple in talk:
            if triple.history:
                guard.check(*OTHER_TURN, triple.history)
                yield guard, triple


def _arms(bench: Bench, guard: Guard, triple: Triple, rewrite: str) -> dict[str, Call]:
    return {"guard": _check(guard, triple, rewrite), "floor": _two_calls(bench.floor, triple.turn, rewrite)}


def _check(guard: Guard, triple: Triple, rewrite: str) -> Callable[[], object]:
    return lambda: guard.check(triple.turn, rewrite, triple.history)


def _two_calls(nlp: Language, turn: str, rewrite: str) -> Callable[[], object]:
    return lambda: (nlp(turn), nlp(rewrite))
