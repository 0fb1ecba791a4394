"""A figure as a value: a picture of tables of the audit, drawn from them alone.

What is in the picture is in the tables, so a figure is traced and downloaded as they are.
"""

from __future__ import annotations

import io
from dataclasses import dataclass
from typing import Literal

from paccf.audit.tables.table import Table
from paccf.report.figures.style import DARK, LIGHT, THEMES, Drawing, headed, styled
from paccf.theory.pictures import DATES

Form = Literal["svg", "pdf", "png"]
FORMS: tuple[Form, ...] = ("svg", "pdf", "png")
ThemeName = Literal["light", "dark"]


@dataclass(frozen=True)
class Figure:
    """One figure of a run. ``caption`` says how to read it, ``data`` are the tables it pictures, the first one
    foremost: their sources and notes are those of the figure."""

    name: str
    title: str
    caption: str
    data: tuple[Table, ...]
    drawing: Drawing

    @property
    def simulated(self) -> bool:
        return any(table.simulated for table in self.data)

    @property
    def caveats(self) -> tuple[str, ...]:
        """What has to be said of every figure of the run."""
        return tuple(dict.fromkeys(text for table in self.data for text in table.caveats))

    def draw(self, form: Form, theme: ThemeName = "light", background: bool = True) -> bytes:
        """The picture in a format. The same tables give the same bytes with the same Matplotlib. ``background`` paints
        the paper; without it the picture lies on whatever is below."""
        colours = THEMES[theme]
        with styled(colours):
            picture = self.drawing(colours, self.data)
            headed(picture, self.title, self.simulated, colours, self.caveats)
            out = io.BytesIO()
            paper = colours.paper if background else "none"
            picture.savefig(out, format=form, facecolor=paper, metadata=DATES[f".{form}"])
        return out.getvalue()

    def web(self) -> str:
        """One SVG for light and dark pages: it follows ``prefers-color-scheme`` by itself, also inside an ``img``."""
        text = self.draw("svg", "light", background=False).decode()
        rules = {}
        for part in ("ink", "faint", "grid", "paper"):
            light, dark = getattr(LIGHT, part), getattr(DARK, part)
            text = text.replace(light, f"var(--{part})")
            rules[part] = light, dark
        light_rules, dark_rules = (";".join(f"--{p}:{pair[i]}" for p, pair in rules.items()) for i in (0, 1))
        style = f"<style>svg{{{light_rules}}}@media (prefers-color-scheme:dark){{svg{{{dark_rules}}}}}</style>"
        head, end, rest = text.partition("<defs>")
        return f"{head}{style}{end}{rest}"
