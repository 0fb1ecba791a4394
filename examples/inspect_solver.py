# /// script
# requires-python = ">=3.11"
# dependencies = ["paccf", "inspect_ai>=0.3.100"]
#
# [tool.uv.sources]
# paccf = { path = ".." }  # this repository
# ///
"""paccf's own engine as an inspect_ai solver: the controllers search, inspect's model answers.

    uv run examples/inspect_solver.py      # or, with inspect_ai installed: python examples/inspect_solver.py

`get_model()` is whatever inspect is told to use. The model here is a provider of a few lines that is SIMULATED, so
that the example runs without a key: it has to look up what a prompt is about, a real one answers the prompt.
"""

from __future__ import annotations

import asyncio
import tempfile
from pathlib import Path

from inspect_ai import Task, eval
from inspect_ai.dataset import Sample
from inspect_ai.model import GenerateConfig, ModelAPI, ModelOutput, get_model, modelapi
from inspect_ai.scorer import Score, accuracy, scorer
from inspect_ai.solver import solver
from puzzle import MODEL, WORLD, bill, calibrated, hands, task_of

import paccf
from paccf.search.controllers import controller
from paccf.search.driver import run_async
from paccf.search.driver import search as begin
from paccf.search.trace import Arm
from paccf.search.world import Answer, Request

BUDGET = 100
ASKED: dict[tuple[str, int], Request] = {}  # for the simulated provider alone


@modelapi(name="simulated")
class SimulatedAPI(ModelAPI):
    async def generate(self, input, tools, tool_choice, config) -> ModelOutput:
        text = MODEL.answer(ASKED[input[-1].text, config.seed]).text
        return ModelOutput.from_content(self.model_name, text)


class Inspected:
    """An asynchronous model for paccf's driver: inspect's, whichever it is. The draw is the seed."""

    name = "inspect"

    async def answer(self, request: Request) -> Answer:
        ASKED[request.prompt, request.draw] = request
        output = await get_model().generate(request.prompt, config=GenerateConfig(seed=request.draw))
        usage = output.usage
        return Answer(output.completion, usage and usage.input_tokens, usage and usage.output_tokens)


@solver
def searched(recorder: paccf.Recorder, arm: Arm, results: list[tuple[bool, int]]):
    async def solve(state, generate):
        task = task_of(state.input_text)
        found = begin(task, WORLD, controller("uct"), arm=arm, budget=BUDGET)
        trace = await run_async(found, Inspected(), asyncio.Semaphore(8))
        with recorder.task(task.id) as log:
            spent = 0
            for f in trace.frontiers:
                ids, cost = [action.key for action in f.actions], f.spent - spent
                log.frontier(f.path, ids, f.observations, requests=cost).decided(f.kept)
                spent = f.spent
            if trace.solved:
                log.solved(trace.path)
        results.append((trace.solved, trace.bill.total))
        state.output.completion = WORLD.solution(task, trace.answer.actions) if trace.answer else "none"
        return state

    return solve


@scorer(metrics=[accuracy()])
def verified():
    async def score(state, target):
        return Score(value=WORLD.verify(task_of(state.input_text), state.output.completion))

    return score


def run(split: str, count: int, recorder: paccf.Recorder, arm: Arm, logs: Path) -> list[tuple[bool, int]]:
    results: list[tuple[bool, int]] = []
    task = Task(
        dataset=[Sample(input=hand) for hand in hands(split, count)],
        solver=searched(recorder, arm, results),
        scorer=verified(),
    )
    (log,) = eval(task, model="simulated/paper-like", log_dir=str(logs), display="none")
    if log.status != "success":
        raise SystemExit(f"inspect says: {log.error}")
    return results


def main(folder: Path, count: int = 30) -> None:
    # 1. record the search as it is, on hands that are held out for calibration
    run("calibration", count, paccf.Recorder(folder / "train.jsonl"), Arm(), folder)

    # 2. calibrate: how far behind was the best solution-bearing candidate, at worst?
    gate = calibrated(folder, search="uct in inspect")

    # 3. gate, on hands it has never seen; the same hands without it are what to compare with
    before = run("test", count, paccf.Recorder(folder / "test.jsonl"), Arm(), folder)
    after = run("test", count, paccf.Recorder(folder / "gated.jsonl"), Arm("paccf", gate.rule), folder)
    bill(folder, before, after)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as name:
        main(Path(name))
