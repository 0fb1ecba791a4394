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
    from paccf.record.calibration import calibrate
    from paccf.record.recorder import Recorder

__all__ = ["Gate", "Recorder", "__version__", "calibrate"]

_LATER = {"Recorder": "paccf.record.recorder", "calibrate": "paccf.record.calibration"}


def __getattr__(name: str) -> object:
    """What is imported when it is asked for, so that the gate alone stays small."""
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_LATER[name]), name)
