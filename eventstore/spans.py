"""Where a trace can see what takes its time: names of steps, and the way to have them recorded.

Nobody records unless `record_with` was called; else a step costs one comparison. What a step may
say about itself is a stream's id or a projection's name, never what is in it.
"""

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any, Final, TypeAlias

Recorder: TypeAlias = Callable[[str, dict[str, str]], AbstractContextManager[Any]]
"""Makes the span of a step from its name and attributes."""

_OFF: Final[AbstractContextManager[Any]] = nullcontext()
_recorder: Recorder | None = None


def record_with(recorder: Recorder | None) -> None:
    """Have steps of this process recorded from now on; None ends that."""
    global _recorder
    _recorder = recorder


def recorded() -> bool:
    """Whether steps of this process are recorded."""
    return _recorder is not None


def step(name: str, **attributes: str) -> AbstractContextManager[Any]:
    """One step of the work, as `with`."""
    return _OFF if _recorder is None else _recorder(name, attributes)
