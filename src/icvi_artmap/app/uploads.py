"""Files that come from the page: to a private folder, and no more bytes than allowed."""

from __future__ import annotations

import itertools
import re
import tempfile
from collections.abc import AsyncIterator
from pathlib import Path

from icvi_artmap._support.wording import LONGEST_PATH, shortened, visible

MIB = 2**20
#: The largest file that is taken unless the user allows more, in MiB.
MOST_MIB = 256


class TooLargeError(ValueError):
    """A file with more bytes than allowed."""


class Uploads:
    """A private folder, which is removed with all that is in it when it is closed.

    Files are named by numbers there; of the name that the page gives, only the suffix is kept.
    """

    def __init__(self, most_mib: int = MOST_MIB) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="icvi-artmap-")  # for the user alone
        self._numbers = itertools.count(1)
        self.most = most_mib * MIB

    async def receive(self, name: str, declared: int | None, body: AsyncIterator[bytes]) -> Path:
        """Write the bytes to a file while they come; none is left if there are too many."""
        if declared is not None and declared > self.most:
            raise self.too_large(name)
        path = self.new(suffix_of(name))
        try:
            received = 0
            with path.open("xb") as file:
                async for part in body:
                    received += len(part)
                    if received > self.most:
                        raise self.too_large(name)
                    file.write(part)
        except BaseException:
            path.unlink(missing_ok=True)
            raise
        return path

    def too_large(self, name: str) -> TooLargeError:
        return TooLargeError(
            f"{name} is larger than {self.most // MIB:,} MiB, which is allowed. Start the "
            "workbench with its path, or with a larger --max-upload."
        )

    def new(self, suffix: str) -> Path:
        """The path of a new file."""
        return Path(self._folder.name) / f"upload-{next(self._numbers)}{suffix}"

    def owns(self, path: Path) -> bool:
        """Whether the file lies in the folder."""
        return path.parent == Path(self._folder.name)

    def close(self) -> None:
        self._folder.cleanup()


def clean_name(name: str) -> str:
    """What the page calls a file, as it may be shown: without folders, and not too long."""
    last = re.split(r"[/\\]", name)[-1].strip()
    return shortened(visible(last), LONGEST_PATH) or "table"


def suffix_of(name: str) -> str:
    """The suffixes of a name, as far as they are plain letters and digits: ".csv", ".csv.gz"."""
    found = re.search(r"(\.[A-Za-z0-9]{1,10}){1,2}$", name)
    return "" if found is None else found[0].lower()
