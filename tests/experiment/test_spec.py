"""The spec: strict, with a suggestion; what is written back is the same spec."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from paccf.experiment.design import Design
from paccf.experiment.reading import parse, read, shipped, toml
from paccf.experiment.spec import SpecError, identity
from paccf.search.controllers import CONTROLLERS


@pytest.mark.parametrize("name", shipped())
def test_a_shipped_spec_is_sound_and_comes_back_from_toml(name: str) -> None:
    spec = read(name)
    assert spec.name == name
    assert parse(toml(spec)) == spec


def test_the_paper_spec_is_the_papers_experiment() -> None:
    spec = read("paper")
    assert spec.budgets == (100, 200, 300, 500)
    assert {name: d.test for name, d in spec.domains.items()} == {"game24": 100, "blocksworld": 99, "gta": 99}
    assert {name: spec.pool(name)[0] for name in spec.domains} == {"game24": 80, "blocksworld": 50, "gta": 50}
    assert list(spec.controllers) == ["uct", "toolchain", "lats", "tooltree", "levin"]
    assert (spec.seed, spec.evaluator.repeats, spec.model.temperature.evaluate) == (42, 4, 0.2)
    assert read("deepseek").model.model == "deepseek-v4-flash"
    assert {**identity(read("deepseek")), "name": "", "about": "", "model": ""} == {
        **identity(spec),
        "name": "",
        "about": "",
        "model": "",
    }


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ("budgtes=[1]", "budgtes is unknown (did you mean budgets?)"),
        ("domains.game24.tset=3", "domains.game24.tset is unknown (did you mean test?)"),
        ("model.temperature.evalute=0.1", "model.temperature.evalute is unknown (did you mean evaluate?)"),
        ("controllers.lats.samples=3", "controllers.lats.samples is unknown"),
        ("controllers.utc={}", "there is no controller 'utc'"),
        ("controllers.uct.k=many", "controllers.uct"),
        ("controllers={levin={temperature=0}}", "controllers.levin: temperature: a number above 0, not 0"),
        ("controllers={tooltree={top_k=0}}", "controllers.tooltree: top_k: a whole number 1 or more, not 0"),
        ("calibration.tasks=x", "calibration.tasks: Expected `int`, got `str`"),
        ("budgets=[20, 60]", "60 is over [calibration] budget 40"),
        ("budgets=[40, 20]", "rising order"),
        ("arms=['paccf']", '"native" first'),
        ("certificate.q=1.5", "certificate.q: between 0 and 1"),
        ("certificate.q=half", "certificate.q: 'half' is no number"),
        ("certificate.rule=pac", "certificate.delta"),
        ("certificate.epsilon=-1", "certificate.epsilon: 0 or more"),
        ("domains.game24.exposed=90", "exposed 90 is over the limit 40"),
        ("name='a/b'", "name: small letters"),
        ("model.preset=nobody", "model.preset"),
        ("=3", "write it as KEY=VALUE"),
        ("name.x=3", "name is not a table"),
    ],
)
def test_what_cannot_be_run_is_refused_in_words(change: str, said: str) -> None:
    with pytest.raises(SpecError, match="smoke|--set") as error:
        read("smoke", [change])
    assert said in str(error.value)


def test_every_setting_of_a_controller_is_stated_and_changes_no_certificate(monkeypatch: pytest.MonkeyPatch) -> None:
    spec = read("paper")
    for name, kind in CONTROLLERS.items():
        assert list(spec.controllers[name]) == list(kind.config.__dataclass_fields__)
        for key in spec.controllers[name]:
            assert identity(spec)["controllers"][name][key] == getattr(kind.config(), key)
    assert "[controllers.levin]\nk = 8\ntemperature = 20.0\n" in toml(spec)
    assert identity(read("smoke")) == identity(read("smoke", ["controllers.uct.k=8"]))
    assert identity(read("smoke")) != identity(read("smoke", ["controllers.uct.k=9"]))
    made = Design(parse(toml(spec)))
    monkeypatch.setattr("paccf.experiment.spec.stated", lambda name, config: dict(config))
    terse = Design(read("paper"))
    assert terse.spec.controllers["lats"] == {}
    assert [made.matched_to(cell) for cell in made.cells] == [terse.matched_to(cell) for cell in terse.cells]


def test_a_budget_beyond_the_calibration_is_said_aloud() -> None:
    spec = read("smoke", ["budgets=[20, 60]", "beyond=a trial"])
    assert spec.beyond == "a trial"
    assert read("smoke", ["budgets=[20, 60]", "arms=['native']"]).largest == 60, "without a margin nothing is promised"


def test_how_fast_is_not_what() -> None:
    assert identity(read("smoke", ["execution.workers=7", "model.concurrency=3"])) == identity(read("smoke"))
    assert identity(read("smoke", ["seed=7"])) != identity(read("smoke"))


def test_an_unknown_spec_is_met_with_a_suggestion(tmp_path: object) -> None:
    with pytest.raises(SpecError, match=r"Did you mean 'paper'\?"):
        read("papper")
    with pytest.raises(SpecError, match="cannot read"):
        read(f"{tmp_path}/none.toml")
    with pytest.raises(SpecError, match="no TOML"):
        parse("a = ")


def test_the_fewest_exposed_tasks_follow_the_rule() -> None:
    assert read("smoke").need_n() == 19
    assert read("smoke", ["certificate.rule=pac", "certificate.delta=0.1"]).need_n() == 45


def test_tasks_that_nobody_can_know_exactly_are_refused_before_anything_is_sent() -> None:
    spec = read("smoke")
    nine = replace(spec, domains={"blocksworld": replace(spec.domains["game24"], source="generated:9", test=3)})
    with pytest.raises(SpecError, match="labels by an oracle need exact knowledge: the task .*: 9 blocks"):
        Design(nine).tests  # noqa: B018
    found = replace(nine, calibration=replace(nine.calibration, labels="found"))
    with pytest.raises(SpecError, match="the simulated model needs exact knowledge"):
        Design(found).streams  # noqa: B018
    five = replace(nine, domains={"blocksworld": replace(nine.domains["blocksworld"], source="generated:5")})
    assert len(Design(five).tests["blocksworld"]) == 3
