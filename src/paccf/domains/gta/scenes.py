"""Kinds of requests for generated tasks, each with the calls that serve it and what the tools would give. All texts are
our own. A scene is a function of a `Draw`, hence of the hash of what it is for.

Plans have 1 to 7 calls; many use one tool more than once, and later calls take what earlier ones gave: a rectangle, a
number that was read, an image that was made.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from paccf.domains.gta.calls import Value
from paccf.search.chance import chance

T = TypeVar("T")


@dataclass(slots=True)
class Draw:
    """Choices by hash: the same for the same ``parts``, whatever else was chosen before."""

    parts: tuple[object, ...]
    made: int = 0

    def pick(self, options: Sequence[T]) -> T:
        self.made += 1
        return options[int(len(options) * chance(*self.parts, self.made))]

    def number(self, low: int, high: int) -> int:
        return self.pick(range(low, high + 1))

    def some(self, options: Sequence[T], count: int) -> list[T]:
        """``count`` different ones."""
        left = list(options)
        return [left.pop(self.number(0, len(left) - 1)) for _ in range(count)]

    def images(self, count: int) -> list[str]:
        return [f"image/image_{n}.jpg" for n in sorted(self.some(range(1, 2000), count))]

    def box(self) -> tuple[int, int, int, int]:
        x, y = self.number(4, 400), self.number(4, 300)
        return x, y, x + self.number(40, 300), y + self.number(30, 240)


@dataclass(slots=True)
class Scene:
    """A request, its files, the calls with their outputs, and the answer with the names that it has to have; without
    an answer the last image is it."""

    query: str
    files: list[str]
    answer: str = ""
    required: tuple[str, ...] = ()
    calls: list[tuple[str, dict[str, Value], str, str]] = field(default_factory=list)

    def call(self, tool: str, output: str, **args: Value) -> None:
        self.calls.append((tool, args, "text", output))

    def draw(self, tool: str, **args: Value) -> str:
        """A call that gives an image; its path."""
        path = f"image/generated_{1 + sum(kind == 'image' for *_, kind, _ in self.calls)}.png"
        self.calls.append((tool, args, "image", path))
        return path


DISHES = ["tomato soup", "fish pie", "rice bowl", "apple cake", "bean stew", "onion bread", "plum tart", "egg salad"]
DRINKS = ["mint tea", "black coffee", "pear juice", "ginger ale", "hot cocoa", "lemonade"]
THINGS = ["bicycle", "umbrella", "dog", "cat", "lamp", "chair", "boat", "kite", "suitcase", "bottle", "horse", "tent"]
PLACES = ["on the left", "on the right", "in the middle", "at the back", "in front"]
COLORS = ["red", "green", "blue", "yellow", "white", "black", "brown", "orange"]
STYLES = ["a watercolor", "an oil painting", "a pencil sketch", "a mosaic", "a woodcut", "a comic panel"]
SEASONS = ["winter with snow", "autumn with fallen leaves", "a foggy morning", "a night under stars"]
NAMES = ["Ada", "Bruno", "Carla", "Dara", "Emil", "Fadi", "Greta", "Hugo", "Ines", "Jonas"]
TITLES = ["Open Day", "Second Hand", "Lost and Found", "Summer Fair", "Harbour Walk", "Quiet Please"]
WORKS = ["the Larch Bridge", "the Tern Lighthouse", "the Elm Street Library", "the Juniper Tower", "the Osier Mill"]
CROWDS = ["people", "cars", "birds", "apples", "books", "boats", "candles", "balloons"]


def lines(draw: Draw, texts: Sequence[str]) -> str:
    """Text as OCR gives it: a place and the words of every line."""
    y, found = draw.number(5, 40), []
    for text in texts:
        x = draw.number(5, 60)
        found.append(f"({x}, {y}, {x + 9 * len(text)}, {y + 22}) {text}")
        y += draw.number(26, 40)
    return "\n".join(found)


def cents(amount: int) -> str:
    return f"{amount // 100}.{amount % 100:02d}"


def menu(draw: Draw) -> Scene:
    wares = draw.some(DISHES + DRINKS, 4)
    prices = {ware: 5 * draw.number(30, 260) for ware in wares}
    first, second = draw.some(wares, 2)
    n, m = draw.number(2, 6), draw.number(1, 4)
    image, *_ = files = draw.images(1)
    scene = Scene(f"By this menu, what do {n} portions of {first} and {m} of {second} cost together?", files)
    scene.call("OCR", lines(draw, [f"{ware} {cents(price)}" for ware, price in prices.items()]), image=image)
    total = cents(n * prices[first] + m * prices[second])
    scene.call("Calculator", total, expression=f"{n}*{cents(prices[first])} + {m}*{cents(prices[second])}")
    scene.answer, scene.required = f"{total}", (total, total.rstrip("0").rstrip("."))
    return scene


def bill(draw: Draw) -> Scene:
    thing, price = draw.pick(THINGS), draw.number(3, 90)
    photo, tag = files = draw.images(2)
    count = draw.number(2, 9)
    scene = Scene(f"How much is it to buy every {thing} of the first picture at the price in the second one?", files)
    scene.call("CountGivenObject", str(count), image=photo, text=thing)
    scene.call("OCR", lines(draw, [f"{thing} {price}.00", "per piece, tax included"]), image=tag)
    scene.call("Calculator", str(count * price), expression=f"{count}*{price}")
    scene.answer, scene.required = f"It is {count * price}.", (str(count * price),)
    return scene


def compare(draw: Draw) -> Scene:
    crowd, files = draw.pick(CROWDS), draw.images(2)
    a, b = draw.number(2, 30), draw.number(2, 30)
    if draw.pick((True, False)):
        scene = Scene(f"How many more {crowd} are in one picture than in the other?", files)
    else:
        scene = Scene(f"How many {crowd} do both pictures show together?", files)
    for image, count in zip(files, (a, b), strict=True):
        scene.call("CountGivenObject", str(count), image=image, text=crowd)
    expression, value = (f"abs({a} - {b})", abs(a - b)) if "more" in scene.query else (f"{a} + {b}", a + b)
    scene.call("Calculator", str(value), expression=expression)
    scene.answer, scene.required = str(value), (str(value),)
    return scene


def receipts(draw: Draw) -> Scene:
    count = draw.pick((2, 2, 3, 4, 5, 6))
    files, sums = draw.images(count), [draw.number(200, 9900) for _ in range(count)]
    scene = Scene("What is the sum of the totals on all of these receipts?", files)
    for image, amount in zip(files, sums, strict=True):
        body = [f"{draw.pick(DISHES)} {cents(draw.number(100, 190))}", f"Total {cents(amount)}"]
        scene.call("OCR", lines(draw, body), image=image)
    scene.call("Calculator", cents(sum(sums)), expression=" + ".join(map(cents, sums)))
    scene.answer, scene.required = cents(sum(sums)), (cents(sum(sums)),)
    return scene


def chart(draw: Draw) -> Scene:
    crowd, count = draw.pick(CROWDS), draw.pick((2, 2, 3, 4))
    files = draw.images(count)
    counts = [draw.number(1, 20) for _ in files]
    kind = draw.pick(("bar", "pie"))
    scene = Scene(f"Count the {crowd} in each picture and show the counts as a {kind} chart.", files)
    for image, found in zip(files, counts, strict=True):
        scene.call("CountGivenObject", str(found), image=image, text=crowd)
    labels = [f"picture {i}" for i in range(1, count + 1)]
    body = f"plt.bar({labels!r}, {counts!r})" if kind == "bar" else f"plt.pie({counts!r}, labels={labels!r})"
    scene.draw("Plot", command=code("import matplotlib.pyplot as plt", "figure = plt.figure()", body, "return figure"))
    return scene


def code(head: str, *body: str) -> str:
    return "\n".join([head, "", "def solution():", *[f"    {line}" for line in body], ""])


def equation(draw: Draw) -> Scene:
    a, b, x = draw.number(2, 9), draw.number(1, 40), draw.number(1, 12)
    [image] = files = draw.images(1)
    scene = Scene("Solve the equation in the picture for x.", files)
    scene.call("MathOCR", f"{a}x+{b}={a * x + b}", image=image)
    solve = f"return str(solve(Eq({a}*x + {b}, {a * x + b}), x))"
    scene.call("Solver", f"[{x}]", command=code("from sympy import Eq, solve, symbols", "x = symbols('x')", solve))
    scene.answer, scene.required = f"x = {x}", (str(x),)
    return scene


def curve(draw: Draw) -> Scene:
    a, b, c = draw.number(1, 5), draw.number(-6, 6), draw.number(-9, 9)
    [image] = files = draw.images(1)
    low, high = -draw.number(3, 9), draw.number(3, 9)
    scene = Scene(f"Draw the function in the picture for x from {low} to {high}.", files)
    scene.call("MathOCR", f"f(x)={a}x^{{2}}{b:+d}x{c:+d}", image=image)
    body = [f"x = np.linspace({low}, {high}, 200)", "figure = plt.figure()", f"plt.plot(x, {a}*x**2 {b:+d}*x {c:+d})"]
    head = "import matplotlib.pyplot as plt\nimport numpy as np"
    scene.draw("Plot", command=code(head, *body, "return figure"))
    return scene


def sign(draw: Draw) -> Scene:
    work, year = draw.pick(WORKS), draw.number(1850, 1999)
    ask = draw.pick(("When was the building on this plate opened?", "How old was the building on this plate in 2020?"))
    [image] = files = draw.images(1)
    scene = Scene(ask, files)
    scene.call("OCR", lines(draw, [work.removeprefix("the ").upper(), "visitors welcome"]), image=image)
    hits = f"1 - Answer box: {work[0].upper()}{work[1:]} was opened in {year} after {draw.number(2, 9)} years of work."
    scene.call("GoogleSearch", hits, query=f"When was {work} opened?", k=draw.pick((1, 4)))
    if ask.startswith("How old"):
        scene.call("Calculator", str(2020 - year), expression=f"2020 - {year}")
    scene.answer = str(2020 - year) if ask.startswith("How old") else str(year)
    scene.required = (scene.answer,)
    return scene


def boxed(draw: Draw) -> Scene:
    thing, where, box = draw.pick(THINGS), draw.pick(PLACES), draw.box()
    [image] = files = draw.images(1)
    way = draw.pick(("box", "named", "written"))
    asks = {
        "box": f"Draw a box around the {thing} {where}.",
        "named": f"Draw a box around the {thing} {where} and label it '{thing}'.",
        "written": f"Write '{draw.pick(TITLES)}' onto the {thing} {where} in {draw.pick(COLORS)}.",
    }
    scene = Scene(asks[way], files)
    scene.call("TextToBbox", f"{box}, score {draw.number(50, 95)}", image=image, text=f"{thing} {where}", top1=True)
    if way == "written":
        words, color = scene.query.split("'")[1], scene.query.rstrip(".").split()[-1]
        scene.draw("AddText", image=image, text=words, position=f"({box[0]}, {box[3]})", color=color)
    elif way == "named":
        scene.draw("DrawBox", image=image, bbox=str(box), annotation=thing)
    else:
        scene.draw("DrawBox", image=image, bbox=str(box))
    return scene


def attribute(draw: Draw) -> Scene:
    thing, where, color, box = draw.pick(THINGS), draw.pick(PLACES), draw.pick(COLORS), draw.box()
    [image] = files = draw.images(1)
    scene = Scene(f"What color is the {thing} {where}?", files, color.capitalize(), (color,))
    scene.call("TextToBbox", f"{box}, score {draw.number(50, 95)}", image=image, text=f"{thing} {where}", top1=True)
    scene.call("RegionAttributeDescription", f"The {thing} is {color}.", image=image, bbox=str(box), attribute="color")
    return scene


def region(draw: Draw) -> Scene:
    thing, crowd, box = draw.pick(THINGS), draw.pick(CROWDS), draw.box()
    inside, all_ = draw.number(1, 9), draw.number(10, 40)
    [image] = files = draw.images(1)
    scene = Scene(f"What share of the {crowd} is near the {thing}, in percent?", files)
    scene.call("TextToBbox", f"{box}, score {draw.number(50, 95)}", image=image, text=thing, top1=True)
    scene.call("CountGivenObject", str(inside), image=image, text=crowd, bbox=str(box))
    scene.call("CountGivenObject", str(all_), image=image, text=crowd)
    share = f"{100 * inside / all_:.1f}"
    scene.call("Calculator", share, expression=f"round(100*{inside}/{all_}, 1)")
    scene.answer, scene.required = f"{share} %", (share,)
    return scene


def restyled(draw: Draw) -> Scene:
    style, thing, title = draw.pick(STYLES), draw.pick(THINGS), draw.pick(TITLES)
    [image] = files = draw.images(1)
    way = draw.pick(("plain", "titled", "titled", "labelled"))
    ask = f"Turn this photo into {style}"
    if way == "plain":
        scene = Scene(f"{ask}.", files)
        scene.draw("ImageStylization", image=image, instruction=f"turn it into {style}")
        return scene
    box = draw.box()
    end = (
        f"and write '{title}' at the top." if way == "titled" else f"and box the {thing} in it with the name '{title}'."
    )
    scene = Scene(f"{ask} {end}", files)
    made = scene.draw("ImageStylization", image=image, instruction=f"turn it into {style}")
    if way == "titled":
        scene.draw("AddText", image=made, text=title, position="mt")
        return scene
    scene.call("TextToBbox", f"{box}, score {draw.number(50, 95)}", image=made, text=thing, top1=True)
    scene.draw("DrawBox", image=made, bbox=str(box), annotation=title)
    return scene


def imagined(draw: Draw) -> Scene:
    thing, season, color = draw.pick(THINGS), draw.pick(SEASONS), draw.pick(COLORS)
    [image] = files = draw.images(1)
    scene = Scene(f"Make a new picture of what is in this one, but on {season}.", files)
    shown = f"The image shows a {color} {thing} {draw.pick(PLACES)} of an open square, with a few trees around it."
    scene.call("ImageDescription", shown, image=image)
    scene.draw("TextToImage", keywords=f"{color} {thing}, open square, trees, {season}")
    return scene


def which(draw: Draw) -> Scene:
    files, things = draw.images(2), draw.some(THINGS, 2)
    letter = draw.pick(NAMES)
    scene = Scene("One of these is a photo of a letter. Who wrote it, and what does the other one show?", files)
    turned = draw.pick((True, False))
    seen = [
        f"A sheet of paper with handwriting lies on a table beside a {things[1]}.",
        f"A {things[0]} stands {draw.pick(PLACES)} of a garden.",
    ]
    for image, said in zip(files, reversed(seen) if turned else seen, strict=True):
        scene.call("ImageDescription", said, image=image)
    scene.call("OCR", lines(draw, ["Thank you for the visit.", f"Yours, {letter}"]), image=files[1 if turned else 0])
    scene.answer, scene.required = f"{letter} wrote it; the other one shows a {things[0]}.", (letter,)
    return scene


def single(draw: Draw) -> Scene:
    [image] = files = draw.images(1)
    crowd, count, name = draw.pick(CROWDS), draw.number(1, 40), draw.pick(NAMES)
    way = draw.pick(("count", "read", "show"))
    if way == "count":
        scene = Scene(f"How many {crowd} are there?", files, str(count), (str(count),))
        scene.call("CountGivenObject", str(count), image=image, text=crowd)
    elif way == "read":
        scene = Scene("Whose name is on this badge?", files, name, (name,))
        scene.call("OCR", lines(draw, ["VISITOR", name]), image=image)
    else:
        thing, place = draw.pick(THINGS), draw.pick(PLACES)
        scene = Scene("What is going on in this picture?", files, f"A {thing} is seen {place}.", (thing,))
        scene.call("ImageDescription", f"A {thing} is seen {place}, and some people walk by.", image=image)
    return scene


# as often as named: about as many calls a plan as GTA has, two in most
SCENES: tuple[Callable[[Draw], Scene], ...] = (
    *(menu,) * 4,
    bill,
    compare,
    receipts,
    chart,
    *(equation,) * 2,
    *(curve,) * 2,
    *(sign,) * 3,
    *(boxed,) * 5,
    *(attribute,) * 3,
    region,
    *(restyled,) * 3,
    *(imagined,) * 3,
    which,
    *(single,) * 2,
)
