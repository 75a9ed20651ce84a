"""The tasks that a fit consists of, for scikit-learn's callbacks (from scikit-learn 1.9 on)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

__all__ = ["UNWATCHED", "CallbackSupportMixin", "Watch", "watched", "watching", "with_callbacks"]

try:
    from sklearn.callback import CallbackSupportMixin, with_callbacks
except ImportError:

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """Nothing: this scikit-learn has no callbacks."""

    def with_callbacks(method: Any) -> Any:
        """``method`` itself: this scikit-learn has no callbacks."""
        return method


class Watch:
    """Whom a fit tells which task it begins and ends; tasks are nested. Here: nobody."""

    def begin(self, task: str, n_subtasks: int | None = 0) -> None:
        """A task begins. ``n_subtasks``: the most tasks that are in it; None: not known."""

    def end(self, subject: Any = None) -> bool:
        """The last task begun is done. Returns whether those that follow it should be left out.

        ``subject``: what can be looked at now, a run or, in the end, the estimator itself.
        """
        return False

    #: Whether :meth:`tried` is to be called, for which every partition is worked out.
    wants_partitions = False

    def tried(self, labels: Any) -> None:
        """A partition of all samples that was found while the number of clusters was chosen.

        It is called for every number tried, with the cluster of every sample.
        """


UNWATCHED = Watch()
AttributesOf = Callable[[Any], dict[str, Any]]
_WATCHING: ContextVar[Watch | None] = ContextVar("watching", default=None)


@contextmanager
def watching(watch: Watch) -> Iterator[None]:
    """Inside, fits tell this one, with any scikit-learn, instead of their callbacks."""
    token = _WATCHING.set(watch)
    try:
        yield
    finally:
        _WATCHING.reset(token)


class _Callbacks(Watch):
    """scikit-learn's callbacks."""

    def __init__(self, estimator: Any, X: Any, y: Any, attributes_of: AttributesOf) -> None:
        self._with = {"estimator": estimator, "X": X, "y": y}
        self._attributes_of = attributes_of
        self._open: list[Any] = []

    def begin(self, task: str, n_subtasks: int | None = 0) -> None:
        if self._open:
            context = self._open[-1].subcontext(task, max_subtasks=n_subtasks)
        else:
            context = self._with["estimator"]._init_callback_context(task, max_subtasks=n_subtasks)
        context.call_on_fit_task_begin(**self._with)
        self._open.append(context)

    def end(self, subject: Any = None) -> bool:
        context = self._open.pop()
        attributes = None if subject is None else lambda: self._attributes_of(subject)
        return bool(
            context.call_on_fit_task_end(**self._with, reconstruction_attributes=attributes)
        )


def watched(estimator: Any, X: Any, y: Any, attributes_of: AttributesOf) -> Watch:
    """Who is told of a fit: the callbacks of the estimator, if scikit-learn has them.

    ``attributes_of(subject)``: the attributes of the estimator as if the fit ended with this run.
    """
    own = _WATCHING.get()
    if own is not None:
        return own
    if hasattr(estimator, "_init_callback_context"):
        return _Callbacks(estimator, X, y, attributes_of)
    return UNWATCHED
