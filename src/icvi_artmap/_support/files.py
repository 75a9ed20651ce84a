"""Files that appear whole or not at all."""

from __future__ import annotations

import os
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def replaced(path: str | os.PathLike[str]) -> Iterator[Path]:
    """A temporary name to write to; renamed to ``path`` at the end, removed after an error.

    Until then, and if the process is killed, a file that was there before stays as it is. Of a
    symbolic link the target is replaced, with a warning that says so; what is neither a plain file
    nor a new name (a device, a pipe, a folder) is refused.
    """
    target = _target(Path(path))
    handle, name = tempfile.mkstemp(prefix=f".{target.name}.", suffix=".part", dir=target.parent)
    os.close(handle)
    temporary = Path(name)
    try:
        yield temporary
        with open(temporary, "rb+") as file:
            os.fsync(file.fileno())
        # mkstemp's files are private; a new file has the rights that the user's mask gives.
        mask = os.umask(0)
        os.umask(mask)
        temporary.chmod(target.stat().st_mode & 0o777 if target.exists() else 0o666 & ~mask)
        temporary.replace(target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def _target(path: Path) -> Path:
    """The file that is to be written, links followed."""
    target = path
    if path.is_symlink():
        try:
            target = path.resolve()
        except (OSError, RuntimeError) as error:  # a circle of links
            raise OSError(f"{str(path)!r} is a link that leads nowhere ({error}).") from None
        warnings.warn(
            f"{str(path)!r} is a link: its target {str(target)!r} is written.",
            UserWarning,
            stacklevel=4,
        )
    if target.is_dir():
        raise IsADirectoryError(f"{str(path)!r} is a folder; give the path of a file.")
    if target.exists() and not target.is_file():
        raise OSError(
            f"{str(path)!r} is a device or a pipe, not a plain file, and is left as it is. Give "
            "the path of a file."
        )
    return target
