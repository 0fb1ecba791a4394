"""Calibrated pruning for LLM-guided search.

``from paccf import Gate`` needs only the standard library. The rooms of the package follow the
paper: ``method`` (calibration and deployment), ``theory`` (what is proved about one frontier),
``record`` (what a search leaves behind), ``published`` (the paper's own tables).
"""

from paccf._version import __version__
from paccf.gate import Gate

__all__ = ["Gate", "__version__"]
