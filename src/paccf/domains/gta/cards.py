"""The fourteen tools of the domain in our own words, for the generated tasks.

Names, inputs and types are those of GTA's tools, so that a generated task has the schema of a real one. A task from
GTA's own files is shown with the descriptions of its file.
"""

from __future__ import annotations

from paccf.domains.gta.calls import Card, Slot, Type

_IMAGE = Slot("image", "image", "path of the image")
_BBOX = "corners of a rectangle, as `(x1, y1, x2, y2)` in pixels"


def _card(name: str, output: Type, description: str, *inputs: Slot) -> Card:
    return Card(name, description, inputs, output)


CARDS: tuple[Card, ...] = (
    _card("OCR", "text", "Reads the text in an image, with the place of every line.", _IMAGE),
    _card("ImageDescription", "text", "Says in a few sentences what an image shows.", _IMAGE),
    _card(
        "CountGivenObject",
        "int",
        "Counts the objects of one kind in an image, or in a part of it.",
        _IMAGE,
        Slot("text", "text", "what to count, in English"),
        Slot("bbox", "text", f"the part to look at: {_BBOX}", optional=True),
    ),
    _card(
        "TextToBbox",
        "text",
        "Finds an object in an image and gives its place.",
        _IMAGE,
        Slot("text", "text", "what to find, in English"),
        Slot("top1", "bool", "only the surest find, or all of them", optional=True, default=True),
    ),
    _card(
        "RegionAttributeDescription",
        "text",
        "Describes one property of a part of an image.",
        _IMAGE,
        Slot("bbox", "text", f"the part: {_BBOX}"),
        Slot("attribute", "text", "the property, such as color"),
    ),
    _card("MathOCR", "text", "Reads a formula in an image as LaTeX.", _IMAGE),
    _card(
        "Calculator",
        "text",
        "Works out one arithmetic expression in Python's notation.",
        Slot("expression", "text", "the expression"),
    ),
    _card(
        "Solver",
        "text",
        "Runs Python code that solves equations with sympy and returns text from a function `solution()`.",
        Slot("command", "text", "the code"),
    ),
    _card(
        "Plot",
        "image",
        "Runs Python code that draws with matplotlib and returns the figure from a function `solution()`.",
        Slot("command", "text", "the code"),
    ),
    _card(
        "GoogleSearch",
        "text",
        "Searches the web and gives the beginnings of the pages found.",
        Slot("query", "text", "what to search for"),
        Slot("k", "int", "how many results", optional=True, default=10),
    ),
    _card(
        "DrawBox",
        "image",
        "Draws a rectangle into an image and gives the new image.",
        _IMAGE,
        Slot("bbox", "text", _BBOX),
        Slot("annotation", "text", "words beside the rectangle", optional=True),
    ),
    _card(
        "AddText",
        "image",
        "Writes words into an image and gives the new image.",
        _IMAGE,
        Slot("text", "text", "the words"),
        Slot("position", "text", "lower left corner as `(x, y)`, or two letters such as `mt`: l m r, then t m b"),
        Slot("color", "text", "color of the words", optional=True, default="red"),
    ),
    _card("TextToImage", "image", "Makes an image from keywords.", Slot("keywords", "text", "keywords between commas")),
    _card(
        "ImageStylization",
        "image",
        "Changes an image as it is told and gives the new image.",
        _IMAGE,
        Slot("instruction", "text", "how to change it"),
    ),
)
