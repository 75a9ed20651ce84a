"""What a campaign is: cases numbered by their seeds, each right, clearly refused, or a failure."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from importlib import import_module
from pathlib import Path
from typing import ClassVar, NamedTuple

#: A message to a user has at most this many characters.
LONGEST_MESSAGE = 300
#: Errors that say what was wrong with the input.
CLEAR = (ValueError, TypeError)
#: Who may raise them: an error of another package says something about the code instead.
HOMES = ("builtins", "icvi_artmap")

#: Name of every campaign, with its module and class; what they need is imported in a worker.
CAMPAIGNS = {
    "fits": "fuzz.fits:Fits",
    "search": "fuzz.search:Search",
    "tables": "fuzz.tables:Tables",
    "models": "fuzz.models:Models",
    "stores": "fuzz.stores:Stores",
    "writers": "fuzz.writers:Writers",
    "threads": "fuzz.threads:Threads",
}


class BrokenPromiseError(AssertionError):
    """What is promised did not hold."""


class Outcome(NamedTuple):
    """How a case ended that is no failure."""

    right: bool  #: a right result; otherwise a clear error
    kind: str


class Campaign(ABC):
    """Cases of one sort. The seed alone says what a case does.

    Parameters
    ----------
    folder : a folder of its own, for files
    """

    #: Seconds that a case may take.
    seconds: ClassVar[float] = 10.0
    #: Bytes that a case may take beyond what the process has.
    memory: ClassVar[int] = 1 << 30

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @abstractmethod
    def case(self, seed: int) -> Outcome:
        """Try one case. Whatever is raised is a failure."""


def make_campaign(target: str, folder: Path) -> Campaign:
    """The campaign of this module and class, ready for its cases."""
    module, name = target.split(":")
    campaign: Campaign = getattr(import_module(module), name)(folder)
    return campaign


def demand(holds: bool, what: str) -> None:
    """Refuse to go on if a promise does not hold."""
    if not holds:
        raise BrokenPromiseError(what)


def clear(error: Exception) -> Outcome:
    """The outcome of an error that a user can understand; any other is raised again."""
    home = type(error).__module__.partition(".")[0]
    if not isinstance(error, CLEAR) or isinstance(error, UnicodeError) or home not in HOMES:
        raise error
    message = str(error)
    demand(bool(message.strip()), f"a {type(error).__name__} without a message")
    if len(message) > LONGEST_MESSAGE:
        raise BrokenPromiseError(
            f"a message of {len(message)} characters: {message[:400]}"
        ) from error
    return Outcome(False, f"{type(error).__name__}: {kind_of(message)}")


def kind_of(message: str) -> str:
    """The first words of a message, without the names and numbers in it."""
    text = re.sub(r"'[^']*'|\"[^\"]*\"", "…", message)
    text = re.sub(r"[-+]?\d(?:[\d.,e+-]*\d)?", "#", text)
    return " ".join(text.split())[:60]
