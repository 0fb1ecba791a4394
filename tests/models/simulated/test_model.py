"""The simulated model says what its profile states, whatever is asked beside it and in whatever order."""

import math
import random
import statistics
import time
from dataclasses import replace

import msgspec
import pytest

from paccf.domains.game24.oracle import Game24Oracle
from paccf.domains.game24.tasks import solvable
from paccf.domains.game24.world import Game24, task_of
from paccf.models.simulated import Evaluator, Profile, Proposer, Simulated, profiles, simulated, truth_of
from paccf.models.simulated.model import on_lattice, tokens
from paccf.search.world import Model, Request, Subject

WORLD = Game24()
protected = Game24Oracle().protected
TASK = task_of("4 7 8 8")
LEGAL = tuple(WORLD.legal(TASK.data))


def model(seed=1, proposer=None, latency_ms=0, **evaluator):
    judge = Evaluator(**evaluator)
    return Simulated(
        truth_of("game24"), Profile("test", "", proposer or Proposer(), judge, judge, judge), seed, latency_ms
    )


def propose(of, task=TASK, k=8, draw=0):
    prompt = WORLD.propose(task, task.data, k, ())
    answer = of.answer(Request("propose", prompt, draw, Subject(task, task.data, k=k)))
    return WORLD.read_proposals(task, task.data, answer.text)


def score(of, actions=LEGAL, draw=0, channel="child", task=TASK, state=None):
    state = task.data if state is None else state
    prompt = WORLD.evaluate(task, state, actions, channel, (), None)
    answer = of.answer(Request("evaluate", prompt, draw, Subject(task, state, tuple(actions), channel)))
    return WORLD.read_scores(answer.text, len(actions))


def by_key(of, actions, draw=0, channel="child"):
    return dict(zip([a.key for a in actions], score(of, actions, draw, channel), strict=True))


def test_clean_tells_the_truth():
    clean: Model = simulated("game24", "clean", 0)
    assert clean.name == "SIMULATED/clean"
    for task in solvable()[::150]:
        legal = WORLD.legal(task.data)
        reading = propose(clean, task, k=100)
        assert {a.key for a in reading.actions} == {a.key for a in legal}
        assert (len(reading.actions), reading.illegal, reading.unparsable) == (len(legal), 0, 0)
        truth = protected(task, task.data, legal)
        assert score(clean, legal, task=task) == [100.0 * alive for alive in truth]
        first = propose(clean, task, k=sum(truth)).actions
        assert all(protected(task, task.data, first))


@pytest.mark.parametrize("profile", profiles())
def test_every_profile_answers_every_kind(profile):
    of = simulated("game24", profile, 7)
    reading = propose(of)
    assert 0 < len(reading.actions) + reading.illegal + reading.unparsable <= 8
    step = Subject(TASK, TASK.data, LEGAL[:1], "post")
    appraisals = [of.answer(Request("appraise", "p", draw, step)).text for draw in range(8)]
    assert any(WORLD.read_scores(text, 1) != [None] for text in appraisals)
    note = of.answer(Request("reflect", "p", 0, Subject(TASK, TASK.data)))
    assert note.text
    assert (note.prompt_tokens, note.completion_tokens) == (1, tokens(note.text))


def test_tokens_are_a_quarter_of_the_characters():
    assert [tokens("x" * n) for n in (0, 1, 4, 5)] == [0, 1, 1, 2]
    answer = model().answer(Request("evaluate", "x" * 41, 0, Subject(TASK, TASK.data, LEGAL)))
    assert (answer.prompt_tokens, answer.completion_tokens) == (11, tokens(answer.text))


def test_the_answer_depends_on_the_request_alone():
    made = {"bias": 20.0, "noise": 10.0, "malformed": 0.1}
    quality = Proposer(illegal=0.2, unparsable=0.1, favour=3.0)
    tasks = solvable()[::300]
    requests = [Request("propose", "p", d, Subject(t, t.data, k=k)) for t in tasks for d in range(3) for k in (1, 8)]
    requests += [
        Request("evaluate", "p", d, Subject(t, t.data, tuple(WORLD.legal(t.data)), c))
        for t in tasks
        for d in range(3)
        for c in ("child", "pre", "post")
    ]
    one, other = model(5, quality, **made), model(5, quality, **made)
    expected = {r: one.answer(r) for r in requests}
    random.Random(1).shuffle(requests)
    assert {r: other.answer(r) for r in requests} == expected
    assert {r: model(6, quality, **made).answer(r) for r in requests} != expected


def test_a_known_answer():
    """The same on every machine and in every version, or recorded runs are not repeatable."""
    of = model(1, Proposer(favour=3.0), bias=20.0, noise=10.0, signal=0.5)
    assert [a.key for a in propose(of).actions] == [
        "4 8 15",
        "4 8 56",
        "4 7 64",
        "1 4 7",
        "4 7 8",
        "7 8 32",
        "-1 4 8",
        "2 7 8",
    ]
    assert [score(of, LEGAL[:5], draw) for draw in range(2)] == [[90, 34, 33, 12, 35], [86, 25, 36, 46, 21]]


def test_a_candidate_has_its_bias_in_any_company():
    of = model(bias=20.0, noise=10.0, signal=0.5)
    expected = by_key(of, LEGAL, draw=2)
    backward = by_key(of, LEGAL[::-1], draw=2)
    assert backward == expected
    assert by_key(of, LEGAL[3:7], draw=2) == {a.key: expected[a.key] for a in LEGAL[3:7]}
    assert by_key(of, LEGAL, draw=3) != expected
    assert by_key(of, LEGAL, draw=2, channel="post") != expected


def test_the_bias_persists_and_is_bounded():
    of = model(bias=20.0, signal=0.0, lattice=0.01)
    biases = []
    for task in solvable()[::40]:
        legal = WORLD.legal(task.data)
        first = score(of, legal, task=task)
        assert score(of, legal, draw=9, task=task) == first
        biases += [s - 50 for s in first]
    assert -20 <= min(biases) < -19.5
    assert 19.5 < max(biases) <= 20
    assert abs(statistics.mean(biases)) < 4 * 20 / math.sqrt(3 * len(biases))
    assert statistics.pstdev(biases) == pytest.approx(20 / math.sqrt(3), rel=0.1)


def test_noise_averages_out_and_bias_does_not():
    quiet = by_key(model(bias=20.0, signal=0.0, lattice=0.01), LEGAL[:6])
    loud = model(bias=20.0, signal=0.0, lattice=0.01, noise=5.0)
    draws = [by_key(loud, LEGAL[:6], draw) for draw in range(1000)]
    for key, mean in quiet.items():
        seen = [d[key] for d in draws]
        assert statistics.mean(seen) == pytest.approx(mean, abs=4 * 5 / math.sqrt(1000))
        assert statistics.stdev(seen) == pytest.approx(5, rel=0.15)
        assert len(set(seen)) > 600
    residuals = [[d[key] - quiet[key] for d in draws] for key in quiet]
    assert abs(statistics.correlation(residuals[0], residuals[1])) < 0.13
    assert abs(statistics.correlation(residuals[0][1:], residuals[0][:-1])) < 0.13


def test_signal_moves_the_centres():
    alive = protected(TASK, TASK.data, LEGAL)
    assert score(model(signal=0.4)) == [70.0 if a else 30.0 for a in alive]
    assert set(score(model(signal=0.0))) == {50.0}


def test_position_is_balanced_by_the_reverse_order():
    of = model(position=6.0, signal=0.0)
    assert score(of, LEGAL[:5]) == [56, 53, 50, 47, 44]
    forth, back = by_key(of, LEGAL), by_key(of, LEGAL[::-1])
    assert all(abs(forth[k] + back[k] - 100) <= 1 for k in forth)  # but for rounding
    assert score(of, LEGAL[:1]) == [50]


@pytest.mark.parametrize("lattice", [0.5, 1, 5, 20, 100])
def test_scores_are_on_the_lattice(lattice):
    of = model(lattice=lattice, noise=60.0)
    seen = {s for draw in range(60) for s in score(of, draw=draw)}
    assert all((s / lattice).is_integer() for s in seen)
    assert (min(seen), max(seen)) == (0, 100)


def test_rounding():
    assert [on_lattice(x, 5) for x in (-3, 2.4, 2.5, 97.4, 97.5, 103)] == ["0", "0", "5", "95", "100", "100"]
    assert on_lattice(33.333333, 0.001) == "33.333"


def test_malformed_answers_come_at_their_rate_and_pass():
    of = model(malformed=0.3)
    answers = [score(of, LEGAL[:4], draw) for draw in range(1500)]
    broken = [a for a in answers if None in a]
    assert len(broken) / 1500 == pytest.approx(0.3, abs=4 * math.sqrt(0.3 * 0.7 / 1500))
    assert {a.count(None) for a in broken} >= {4}
    assert all(None in score(model(malformed=1.0), LEGAL[:n], d) for n in (1, 2, 5) for d in range(4))


def test_what_comes_to_mind_persists():
    of = model(proposer=Proposer(count=8, favour=2.0))
    assert propose(of, draw=0) == propose(of, draw=5)
    assert len(propose(of, k=20).actions) == 8
    assert {a.key for a in propose(of, k=3).actions} < {a.key for a in propose(of).actions}
    said = [propose(of, k=1, draw=d).actions for d in range(200)]
    assert {len(s) for s in said} == {1}
    assert {s[0].key for s in said} == {a.key for a in propose(of).actions}


def test_favour_and_recall_are_what_they_say():
    tasks = solvable()[::3]
    blind, keen, never, half = (
        model(proposer=Proposer(count=1, favour=f, recall=r)) for f, r in ((1, 1), (4, 1), (4, 0), (1e6, 0.5))
    )
    hits = {id(m): 0 for m in (blind, keen, never, half)}
    expected = {id(m): 0.0 for m in (blind, keen, never, half)}
    for task in tasks:
        legal = WORLD.legal(task.data)
        alive = sum(protected(task, task.data, legal))
        dead = len(legal) - alive
        expected[id(blind)] += alive / len(legal)
        expected[id(keen)] += 4 * alive / (4 * alive + dead)
        expected[id(half)] += 1 - 0.5**alive
        for m in (blind, keen, never, half):
            first = propose(m, task).actions
            hits[id(m)] += sum(protected(task, task.data, first))
    for m in (blind, keen, never, half):
        assert hits[id(m)] / len(tasks) == pytest.approx(expected[id(m)] / len(tasks), abs=0.09)


def test_a_sample_favours_protected_actions():
    task = solvable()[700]
    of = model(proposer=Proposer(count=1000, favour=5.0))
    legal = WORLD.legal(task.data)
    alive = sum(protected(task, task.data, legal))
    share = 5 * alive / (5 * alive + len(legal) - alive)
    hits = sum(protected(task, task.data, propose(of, task, k=1, draw=d).actions)[0] for d in range(2000))
    assert hits / 2000 == pytest.approx(share, abs=4 * math.sqrt(share * (1 - share) / 2000))


def test_slips_come_at_their_rates():
    of = model(proposer=Proposer(count=1000, illegal=0.2, unparsable=0.1))
    lines = illegal = unparsable = 0
    for task in solvable()[::25]:
        reading = propose(of, task, k=1000)
        lines += len(reading.actions) + reading.illegal + reading.unparsable
        illegal += reading.illegal
        unparsable += reading.unparsable
    assert lines == sum(len(WORLD.legal(t.data)) for t in solvable()[::25])
    assert illegal / lines == pytest.approx(0.2, abs=0.04)
    assert unparsable / lines == pytest.approx(0.1, abs=0.03)
    again = propose(of, k=1000, draw=1)
    assert again.illegal != propose(of, k=1000).illegal or again.actions != propose(of, k=1000).actions


def test_useless_scores_say_nothing():
    of = simulated("game24", "useless", 3)
    dead, alive = [], []
    for task in solvable()[::12]:
        legal = WORLD.legal(task.data)
        for points, live in zip(score(of, legal, task=task), protected(task, task.data, legal), strict=True):
            (alive if live else dead).append(points)
    assert statistics.mean(alive) == pytest.approx(statistics.mean(dead), abs=5)
    assert statistics.mean(dead) == pytest.approx(50, abs=3)


def test_latency():
    of = model(latency_ms=30)
    started = time.perf_counter()
    propose(of)
    assert time.perf_counter() - started >= 0.03


def test_a_state_with_no_moves_is_answered():
    ended = Subject(TASK, (24,), k=8)
    assert model().answer(Request("propose", "p", 0, ended)).text == ""
    assert model().answer(Request("propose", "p", 0, replace(ended, k=1))).text == ""
    assert model().answer(Request("evaluate", "p", 0, replace(ended, actions=()))).text == "[]"


def test_an_answer_takes_well_under_a_fifth_of_a_millisecond():
    of = simulated("game24", "paper-like", 3)
    mind = Request("propose", WORLD.propose(TASK, TASK.data, 8, ()), 0, Subject(TASK, TASK.data, k=8))
    judge = Request(
        "evaluate",
        WORLD.evaluate(TASK, TASK.data, LEGAL[:8], "child", (), None),
        0,
        Subject(TASK, TASK.data, LEGAL[:8]),
    )
    best = math.inf
    for _ in range(20):
        started = time.perf_counter()
        for _ in range(20):
            of.answer(mind)
            of.answer(judge)
        best = min(best, (time.perf_counter() - started) / 40)
    assert best < 200e-6


def test_profiles_are_values():
    profile = simulated("game24", "clean", 0).profile
    assert msgspec.structs.replace(profile, name="x") != profile
    with pytest.raises(ValueError, match="there is no domain 'chess'. Known: .*game24"):
        simulated("chess", "clean", 0)
