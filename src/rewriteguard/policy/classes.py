"""Classes of requests: what can be told of a turn before its rewriter is asked, and what is done for each class."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from rewriteguard.errors import PolicyError
from rewriteguard.model.tokens import Kind

REST = "everything else"
"""Names the requests of no class."""
ENGLISH = "en"
_LONGEST_NAME = 80  # characters: it stands on every span


class Release(StrEnum):
    """How far a rewriter is let loose on a class of requests.

    SHIP searches a rewrite that is PRESERVED alone. FUSE does what the policy says. FALL_BACK does without the
    rewriter, which is not asked. CLARIFY does what the policy says, and asks the user where a reference has several
    readings.
    """

    SHIP = "ship"
    FUSE = "fuse"
    FALL_BACK = "fall_back"
    CLARIFY = "clarify"


@dataclass(frozen=True, slots=True)
class Traits:
    """What a predicate reads of a turn; no rewrite is needed for it.

    Attributes:
        kinds: The protected kinds of what is asked.
        dependent: Whether the turn needs the conversation to be understood.
        language: Code of its language, or the name of its script; `en` also where there is too little to tell.
        words: The number of its words, as spaces part them.
    """

    kinds: frozenset[Kind]
    dependent: bool
    language: str
    words: int


@dataclass(frozen=True, slots=True)
class Predicate:
    """Conditions on a turn, which all have to hold; without any it holds for every turn.

    Attributes:
        kinds: Protected kinds that the turn has, each of them; kept in the order of `Kind`.
        dependent: Whether the turn needs the conversation; None does not ask.
        language: Its language, such as `en`; None does not ask.
        min_words: The fewest words, as spaces part them.
        max_words: The most words; None is without limit.

    Raises:
        PolicyError: A condition has a value that no turn can have.
    """

    kinds: tuple[Kind, ...] = ()
    dependent: bool | None = None
    language: str | None = None
    min_words: int = 0
    max_words: int | None = None

    def __post_init__(self) -> None:
        unknown = [kind for kind in self.kinds if kind not in tuple(Kind)]
        if unknown or isinstance(self.kinds, str):
            raise PolicyError(f"kinds: expected some of {', '.join(Kind)}, got {self.kinds!r}")
        object.__setattr__(self, "kinds", tuple(kind for kind in Kind if kind in self.kinds))
        if self.language is not None and not (self.language.isalpha() and self.language == self.language.lower()):
            raise PolicyError(f"language: expected a code in small letters such as 'en', got {self.language!r}")
        if self.min_words < 0:
            raise PolicyError(f"min_words: expected at least 0, got {self.min_words}")
        if self.max_words is not None and self.max_words < self.min_words:
            raise PolicyError(f"max_words: expected at least min_words ({self.min_words}), got {self.max_words}")

    @property
    def holds_always(self) -> bool:
        """Whether there is no condition."""
        return self == Predicate()

    def holds(self, traits: Traits) -> bool:
        """Whether all conditions hold for a turn."""
        return (
            traits.kinds.issuperset(self.kinds)
            and self.dependent in (None, traits.dependent)
            and self.language in (None, traits.language)
            and self.min_words <= traits.words
            and (self.max_words is None or traits.words <= self.max_words)
        )


@dataclass(frozen=True, slots=True)
class RequestClass:
    """A class of requests and what is done for it.

    Attributes:
        name: Shown on spans and decisions.
        when: Which turns belong to it, unless an earlier class took them.
        release: What is done for them.

    Raises:
        PolicyError: The name is empty, too long or more than a line.
    """

    name: str
    when: Predicate = field(default_factory=Predicate)
    release: Release = Release.FUSE

    def __post_init__(self) -> None:
        name = self.name
        if not isinstance(name, str) or not name.strip() or not name.isprintable() or len(name) > _LONGEST_NAME:
            raise PolicyError(f"class {name!r}: expected a name of one line and at most {_LONGEST_NAME} characters")
        if self.release not in tuple(Release):
            raise PolicyError(f"class {self.name!r}: expected one of {', '.join(Release)}, got {self.release!r}")
        object.__setattr__(self, "release", Release(self.release))


def first_class(classes: Iterable[RequestClass], traits: Traits) -> RequestClass | None:
    """The first class whose predicate holds, so that no turn is in two; None where none does."""
    return next((each for each in classes if each.when.holds(traits)), None)


def check_classes(classes: Sequence[RequestClass]) -> None:
    """Raises where two classes have one name, or one is never reached.

    Raises:
        PolicyError: They do, or one is not.
    """
    names = [each.name for each in classes]
    twice = next((name for number, name in enumerate(names) if name in names[:number]), None)
    if twice is not None:
        raise PolicyError(f"class {twice!r}: expected a name of its own, but an earlier class has it")
    for number, each in enumerate(classes):
        if each.when.holds_always and number + 1 < len(classes):
            raise PolicyError(
                f"class {names[number + 1]!r}: it is never reached, since {each.name!r} before it holds for every turn"
            )
