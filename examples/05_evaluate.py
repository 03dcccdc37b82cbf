"""Decides how far two recorded rewriters may be used, and searches by the policy file that comes out of it.

Run it with: python examples/05_evaluate.py (needs the extra `evaluation`). Cases, corpus and rules are in
examples/evaluation; `rewriteguard evaluate` does the same and writes a report beside it.
"""

from datetime import date
from pathlib import Path
from tempfile import TemporaryDirectory

from rewriteguard import GuardedSearch, Policy
from rewriteguard.evaluation import Corpus, Evaluation, Rules, evaluate, read_cases

DATA = Path(__file__).parent / "evaluation"
TODAY = date(2025, 3, 10)  # so that "last year" means the same whenever this is run


def print_releases(found: Evaluation) -> None:
    """Prints what was decided about each class, and what decided it."""
    for each in found.decisions:
        if each.enforced:
            why = ", ".join(each.decided_by) or "every bound holds"
            print(f"{each.rewriter:<10} {each.group:<20} n = {each.n:<3} {each.release.value:<10} {why}")


def print_searched(search: GuardedSearch, turn: str, history: list[tuple[str, str]]) -> None:
    """Prints what the policy makes of one turn."""
    decision = search.run(turn, history, reference_date=TODAY).decision
    print(f"\n{turn}\n  {decision.request_class}: {decision.action.value} ({decision.reason})")
    for query in decision.queries:
        print(f"  searched: {query.text}")


def main() -> None:
    """Evaluates, writes the policy of the hasty rewriter, and searches by it."""
    cases, corpus = read_cases(DATA / "cases.jsonl"), Corpus.read(DATA / "corpus.jsonl")
    found = evaluate(
        cases,
        corpus,
        {"careful-1": "recorded", "hasty-1": "recorded"},
        rules=Rules.load(DATA / "rules.toml"),
        k=3,
        budget=18,
        reference_date=TODAY,
    )
    print_releases(found)

    recorded = {case.original: case.rewrites["hasty-1"][0] for case in cases}

    def hasty(turn: str) -> str:  # in production: your rewriter, with the model and prompt that were evaluated
        print(f"\nthe rewriter is asked: {turn}")
        return recorded[turn]

    with TemporaryDirectory() as folder:
        path = Path(folder) / "policy.toml"
        path.write_text(found.policy_of("hasty-1"), "utf-8")
        search = GuardedSearch(corpus, hasty, k=3, policy=Policy.load(path))
    by_id = {case.id: case for case in cases}
    for name in ("uptime-5", "errors-3"):  # a follow-up, then a question with an error code
        print_searched(search, by_id[name].original, list(by_id[name].history))


if __name__ == "__main__":
    main()
