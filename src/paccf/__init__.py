"""Calibrated pruning for LLM-guided search.

``from paccf import Gate`` needs only the standard library. The rooms of the package follow the
paper: ``method`` (calibration and deployment), ``theory`` (what is proved about one frontier),
``search`` and ``domains`` (the five controllers, what they search), ``record`` (what a search leaves
behind), ``audit`` (evidence from records alone), ``published`` (the paper's own tables).
"""

from paccf._version import __version__
from paccf.gate import Gate

TYPE_CHECKING = False
if TYPE_CHECKING:
    from paccf.record.recorder import Recorder

__all__ = ["Gate", "Recorder", "__version__"]


def __getattr__(name: str) -> object:
    """`Recorder` is imported when it is asked for, so that the gate alone stays small."""
    if name == "Recorder":
        from paccf.record.recorder import Recorder

        return Recorder
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
