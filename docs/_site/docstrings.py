"""What Sphinx needs to know about the docstrings."""

import re
from typing import Any

#: A literal, a role or a link, which stay as they are; or a name such as n_clusters_, which would
#: be taken for a link.
_LITERAL_OR_NAME = re.compile(r"``.+?``|`[^`]+`_*|(?<![\w*|\\])([A-Za-z]\w*)_(?![\w*|`])")


def escape_names(app: Any, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    """Fitted attributes can stand in the text of a docstring without quotes."""
    in_doctest = False
    for i, line in enumerate(lines):
        in_doctest = bool(line.strip()) and (in_doctest or line.lstrip().startswith(">>>"))
        if not in_doctest:
            lines[i] = _LITERAL_OR_NAME.sub(_escaped, line)


def _escaped(found: re.Match[str]) -> str:
    return rf"{found[1]}\_" if found[1] else found[0]


def skip_routing(app: Any, what: str, name: str, obj: Any, skip: bool, options: Any) -> bool | None:
    """Leave out what scikit-learn adds to every estimator for metadata routing."""
    added = re.fullmatch(r"get_metadata_routing|set_\w+_request", name)
    return True if added else None
