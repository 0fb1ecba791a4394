"""The paper's printed tables, and what they imply about each other.

``load()`` gives every table as typed rows whose figures keep their printed digits; ``check()`` recomputes each
figure that other figures determine, in exact rationals, and says of each whether it ``agrees``, is off by
``rounding`` of the inputs only, or ``differs``; ``remarks()`` lists what is not a matter of figures.

On the paper as printed: 1,102 checks, of which 1,030 agree, 60 are rounding (54 of these are token percentages
from totals printed in millions with two decimals) and 12 differ. The twelve are listed and explained in
``known.py``: eight figures of the table without ToolTree, one missing column, three exposure rates. Figures no
other figure determines (most interval ends, the controlled check's rates) are not checked against anything.

Standard library only. A figure prints beside another value with ``Printed.like``::

    from paccf.published import load
    row = load().macro_main.find(domain="GTA", budget="B100")
    print(row.preq_reduction_pct, row.preq_reduction_pct.like(8.1234))    # 8.27 8.12
"""

from paccf.published.check import Report, check
from paccf.published.figure import Printed, Span, Verdict
from paccf.published.finding import Check, Where
from paccf.published.intervals import recovered_counts
from paccf.published.known import KNOWN, Known
from paccf.published.remarks import Remark, reference_tails, remarks
from paccf.published.tables import Paper, Table, load, names, read, table

__all__ = [
    "KNOWN",
    "Check",
    "Known",
    "Paper",
    "Printed",
    "Remark",
    "Report",
    "Span",
    "Table",
    "Verdict",
    "Where",
    "check",
    "load",
    "names",
    "read",
    "recovered_counts",
    "reference_tails",
    "remarks",
    "table",
]
