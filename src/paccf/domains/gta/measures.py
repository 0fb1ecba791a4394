"""How well a plan agrees with the recorded one. For after a search has ended.

Avg3 is the mean of three F1 over multisets: tool names, arguments (``tool::name=value``, repeats count), whole calls;
order plays no part. Two empty sets agree fully, an empty and a full one not at all. That is how ToolTree's authors
measure; GTA's own figures are others, below. Values are compared in canonical form, or strictly as Python prints them.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from statistics import fmean

from paccf.domains.gta.calls import FINISH, Call
from paccf.domains.gta.records import Gold

# GTA's four kinds of tools (its evaluator, gta_bench.py)
KINDS = {
    "p": ("OCR", "ImageDescription", "RegionAttributeDescription", "TextToBbox"),
    "o": ("DrawBox", "AddText", "GoogleSearch"),
    "l": ("Calculator", "Solver", "Plot", "MathOCR", "CountGivenObject"),
    "c": ("TextToImage", "ImageStylization"),
}
ANSWER = 8000  # ours: characters of an answer that are looked at
_WORD = re.compile(r"\w+")


def f1(said: Iterable[str], gold: Iterable[str]) -> float:
    """F1 of two multisets."""
    a, b = Counter(said), Counter(gold)
    if not a or not b:
        return float(not a and not b)
    return 2 * (a & b).total() / (a.total() + b.total())


def three(plan: Sequence[Call], gold: Sequence[Call], strict: bool = False) -> tuple[float, float, float]:
    """Tool, Argument and Plan F1."""
    return (
        f1([call.tool for call in plan], [call.tool for call in gold]),
        f1(_arguments(plan, strict), _arguments(gold, strict)),
        f1([_whole(call, strict) for call in plan], [_whole(call, strict) for call in gold]),
    )


def avg3(plan: Sequence[Call], gold: Sequence[Call], strict: bool = False) -> float:
    """The mean of the three: the domain's utility."""
    return fmean(three(plan, gold, strict))


def _arguments(calls: Sequence[Call], strict: bool) -> list[str]:
    return [f"{call.tool}::{k}={v}" for call in calls for k, v in (call.args if strict else call.canonical)]


def _whole(call: Call, strict: bool) -> str:
    return f"{call.tool}::{sorted(call.args)}" if strict else call.key


def metrics(said: Sequence[Call], gold: Gold) -> dict[str, float]:
    """All figures about a plan, ``finish`` at its end included if it has one. What a task does not define is left out.

    GTA asks for one step at a time, behind gold steps. Here the plan as it stands is laid beside the gold one, step by
    step, so that a step too many or too few shifts what follows: stricter than GTA's own procedure.
    """
    finish = said[-1] if said and said[-1].tool == FINISH else None
    plan = said[:-1] if finish else said
    strict = three(plan, gold.calls, strict=True)
    found = dict(zip(("tool_f1", "argument_f1", "plan_f1"), three(plan, gold.calls), strict=True))
    found |= {"strict_argument_f1": strict[1], "strict_plan_f1": strict[2], "strict_avg3": fmean(strict)}
    found |= _steps(plan, finish, gold)
    found |= {
        f"{kind}_f1": value for kind, tools in KINDS.items() if (value := _kind(plan, gold.calls, tools)) is not None
    }
    found["finished"] = float(finish is not None)
    return found


def _steps(plan: Sequence[Call], finish: Call | None, gold: Gold) -> dict[str, float]:
    """InstAcc: steps of the right sort, a call or the answer. ToolAcc, ArgAcc: gold calls with this tool, and with just
    these arguments, at their place. SummAcc: whether the answer is right, at its place; AnsAcc: at any place."""
    count = len(gold.calls)
    answers = gold.required is not None or gold.samples is not None
    in_place = finish is not None and len(plan) == count
    sorts = min(len(plan), count) + (in_place and answers)
    pairs = list(zip(plan, gold.calls, strict=False))
    found = {
        "inst_acc": sorts / (count + answers),
        "tool_acc": sum(a.tool == b.tool for a, b in pairs) / count,
        "arg_acc": sum(a.key == b.key for a, b in pairs) / count,
    }
    if answers:
        right = answered(str(dict(finish.args).get("answer", "")), gold) if finish else 0.0
        found |= {"summ_acc": right if in_place else 0.0, "ans_acc": right}
    return found


def answered(answer: str, gold: Gold) -> float:
    """Whether every required group has a name in the answer and no forbidden name is; for sample answers, the best F1
    of words. GTA compares those by embeddings, so ours is a stand-in for want of a model."""
    answer = answer[:ANSWER]
    if gold.required is not None:
        forbidden = [name for group in gold.forbidden for name in group]
        return float(
            all(_names(group, answer) for group in gold.required) and not (forbidden and _names(forbidden, answer))
        )
    words = _WORD.findall(answer.lower())
    return max((f1(words, _WORD.findall(sample.lower())) for sample in gold.samples or ()), default=0.0)


def _names(names: Sequence[str], answer: str) -> bool:
    return re.search(rf"\b(?:{'|'.join(map(re.escape, names))})\b", answer, re.IGNORECASE) is not None


def _kind(plan: Sequence[Call], gold: Sequence[Call], tools: Sequence[str]) -> float | None:
    """F1 of one kind of tools as GTA counts: a gold call is a hit if its tool occurs in the plan at all. Precision can
    come out above 1 then, and is held at 1. `None` if neither plan has the kind."""
    wanted = [call.tool for call in gold if call.tool in tools]
    made = [call.tool for call in plan if call.tool in tools]
    if not wanted or not made:
        return None if not wanted and not made else 0.0
    hits = sum(tool in made for tool in wanted)
    precision, recall = min(1.0, hits / len(made)), hits / len(wanted)
    return 2 * precision * recall / (precision + recall) if hits else 0.0
