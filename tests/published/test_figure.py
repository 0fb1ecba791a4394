"""Printed figures, intervals and verdicts, against values worked out by hand."""

from __future__ import annotations

from fractions import Fraction as F

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paccf.published.figure import Printed, Span, Verdict, decimal, judge, mean, same


@pytest.mark.parametrize(
    ("text", "value", "half"),
    [
        ("+6.90", F(69, 10), F(1, 200)),
        ("-0.086", F(-86, 1000), F(1, 2000)),
        ("100", F(100), F(1, 2)),
        ("1,058", F(1058), F(1, 2)),
        ("0.637915", F(637915, 10**6), F(1, 2 * 10**6)),
        ("-0.12", F(-12, 100), F(1, 200)),
    ],
)
def test_printed(text: str, value: F, half: F) -> None:
    p = Printed(text)
    assert (p.value, p.half, str(p)) == (value, half, text)
    assert p.span == Span(value, value - half, value + half)


@pytest.mark.parametrize("text", ["", "--", "1.", ".5", "1e3", "12,34", "nan", "1 000", "+-1", "5%"])
def test_no_figure(text: str) -> None:
    with pytest.raises(ValueError, match="not a printed figure"):
        Printed(text)


def test_count() -> None:
    assert Printed("+3").count == 3
    with pytest.raises(ValueError, match="not a count"):
        _ = Printed("3.0").count


def test_like() -> None:
    assert Printed("+6.90").like(1.236) == "+1.24"
    assert Printed("+6.90").like(F(-1, 1000)) == "+0.00"
    assert Printed("-6.90").like(2) == "+2.00"
    assert Printed("6.90").like(-2) == "-2.00"
    assert Printed("40").like(2.5) == "3"


@given(st.decimals(-1000, 1000, places=3))
def test_a_print_prints_itself(x: object) -> None:
    p = Printed(str(x))
    assert decimal(p.value, 3) == str(x).replace("-0.000", "0.000")
    assert Printed(p.like(p.value)).value == p.value


@pytest.mark.parametrize(
    ("printed", "span", "verdict"),
    [
        ("6.78", (F("6.774"), F("6.769"), F("6.779")), Verdict.ROUNDING),
        ("14.35", (F("14.352"), F("14.347"), F("14.357")), Verdict.AGREES),
        ("2.94", (F("3.8817"), F("3.8767"), F("3.8867")), Verdict.DIFFERS),
        ("8.26", (F("8.2475"), F("8.24"), F("8.255")), Verdict.ROUNDING),  # the ends touch
        ("8.26", (F("8.2475"), F("8.24"), F("8.2549")), Verdict.DIFFERS),
        ("5.00", (F("5.005"), F("5.005"), F("5.005")), Verdict.AGREES),  # a tie rounds either way
    ],
)
def test_judge(printed: str, span: tuple[F, F, F], verdict: Verdict) -> None:
    assert judge(Printed(printed), Span(*span)) is verdict


def test_same() -> None:
    assert same(Printed("+0.21"), Printed("+0.206"))
    assert same(Printed("30"), Printed("30.0"))
    assert same(Printed("+6.90"), Printed("6.90"))
    assert not same(Printed("6.90"), Printed("6.91"))
    assert not same(Printed("+0.22"), Printed("+0.206"))


def test_span_arithmetic_by_hand() -> None:
    a, b = Printed("2.0").span, Printed("4.0").span
    assert mean([a, b]) == Span(F(3), F("2.95"), F("3.05"))
    assert a - b == Span(F(-2), F("-2.1"), F("-1.9"))
    assert a.over(b) == Span(F(1, 2), F("1.95") / F("4.05"), F("2.05") / F("3.95"))
    assert a.times(-2) == Span(F(-4), F("-4.1"), F("-3.9"))
    with pytest.raises(ValueError, match="cannot divide"):
        a.over(Span.exact(0))


@given(st.lists(st.decimals(-50, 50, places=2), min_size=1, max_size=6), st.data())
def test_a_span_holds_every_unrounded_value(xs: list[object], data: st.DataObject) -> None:
    prints = [Printed(str(x)) for x in xs]
    true = [p.value + p.half * data.draw(st.fractions(-1, 1)) for p in prints]
    got = mean(p.span for p in prints)
    assert got.lo <= sum(true, F(0)) / len(true) <= got.hi
