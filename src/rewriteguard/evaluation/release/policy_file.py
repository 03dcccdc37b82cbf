"""Writes the policy file that applies the release decisions about one rewriter."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import fields, is_dataclass, replace
from typing import Any

from rewriteguard.errors import InputError
from rewriteguard.evaluation.release.release import ReleaseDecision
from rewriteguard.evaluation.release.rules import Rules
from rewriteguard.model.rules import Verdict
from rewriteguard.policy.classes import REST, Predicate, RequestClass
from rewriteguard.policy.policy import Policy

_HASH = 12  # digits of a hash in a name: enough to find the rules, short enough for a span


def policy_for(rewriter: str, decisions: Iterable[ReleaseDecision], rules: Rules, base: Policy | None = None) -> Policy:
    """The policy that applies the decisions about one rewriter, with all classes in the order of the rules.

    Args:
        rewriter: The label of the rewriter.
        decisions: The decisions; those about other rewriters and about slices are left out.
        rules: The rules that they come from.
        base: What else the policy says: the one with which the guarded arm was run. Whether the user is asked, and that
            the guard acts at all, the classes say.

    Raises:
        InputError: A class was not decided.
    """
    made = {each.group: each.release for each in decisions if each.enforced and each.rewriter == rewriter}
    wanted = [(each.name, each.when) for each in rules.classes] + [(REST, Predicate())]
    missing = [name for name, _ in wanted if name not in made]
    if missing:
        raise InputError(f"decisions: expected one about each class for {rewriter!r}, got none for {missing[0]!r}")
    classes = tuple(RequestClass(name, when, made[name]) for name, when in wanted)
    named = replace(base or Policy(), name=f"accepted-{rules.hash[:_HASH]}", classes=classes)
    return replace(named, clarify=False, shadow=False)


def policy_file(
    rewriter: str,
    decisions: Iterable[ReleaseDecision],
    rules: Rules,
    conditions_hash: str,
    base: Policy | None = None,
) -> str:
    """The text of a policy file, which `Policy.load` reads; its comments say what it rests on.

    Raises:
        InputError: A class was not decided.
    """
    known = [each for each in decisions if each.enforced and each.rewriter == rewriter]
    header = [
        f"The policy of the rewriter {_toml(rewriter)}, written by the evaluation from its release decisions.",
        f"rules: {rules.hash}",
        f"conditions: {conditions_hash}",
        *(f"{_toml(each.group)}: {each.release.value}, n = {each.n}" for each in known),
    ]
    return policy_text(policy_for(rewriter, known, rules, base), header)


def policy_text(policy: Policy, header: Iterable[str] = ()) -> str:
    """The policy as TOML, of which `Policy.load` makes an equal one; what is as in `Policy()` is left out.

    Args:
        policy: Any policy.
        header: Lines of a comment at the top.

    Raises:
        InputError: The policy has no name, without which the file could not be loaded.
    """
    if not policy.name.strip():
        raise InputError(f"policy.name: expected a text, got {policy.name!r}")
    lines = [f"# {line}" for text in header for line in text.splitlines()]
    return "\n".join([*lines, *([""] if lines else []), *_lines(policy)]) + "\n"


def _lines(policy: Policy) -> Iterator[str]:
    said = {"name": policy.name} | _beyond_defaults(policy)
    classes = said.pop("classes", ())
    rows = {key: said.pop(key) for key in ("weights", "complete_weights") if key in said}  # tables come last
    yield from (f"{key} = {_toml(value)}" for key, value in said.items())
    for key, weights in rows.items():
        yield from ("", f"[{key}]", *(f"{verdict.value} = {_toml(weights[verdict])}" for verdict in Verdict))
    for each in classes:
        yield from ("", "[[class]]", f"name = {_toml(each.name)}")
        if not each.when.holds_always:
            yield f"when = {_toml(each.when)}"
        yield f"release = {_toml(each.release)}"


def _beyond_defaults(value: Any) -> dict[str, Any]:
    """The fields of a dataclass that are not as they are where nothing is said, by name."""
    return {each.name: said for each in fields(value) if (said := getattr(value, each.name)) != each.default}


def _toml(value: Any) -> str:
    if isinstance(value, str):  # a basic string: JSON's escapes are TOML's, but for a character that JSON leaves alone
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, tuple):
        return f"[{', '.join(map(_toml, value))}]"
    if is_dataclass(value):
        return f"{{{', '.join(f'{key} = {_toml(said)}' for key, said in _beyond_defaults(value).items())}}}"
    return repr(value)
