"""What is known of a search after it has ended: its labels, and so its deficits. Offline; no search imports this."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from paccf.domains.labels import Labels, labels, recorded_places
from paccf.domains.probing import by_probes
from paccf.experiment.design import Cell, Design
from paccf.method.certificate import Certificate
from paccf.method.deficit import TaskDeficits
from paccf.record.values import Label, Search
from paccf.search.tree import Task
from paccf.search.world import Model


def labelled(search: Search, task: Task, design: Design, model: Model | None = None) -> Labels:
    """The labels of every frontier of a recorded ``search`` on ``task``, in the spec's mode. Probing asks ``model``."""
    mode = design.spec.calibration.labels
    if mode != "probed":
        return labels(search, mode, design.worlds[search.outcome.key.domain], task)
    assert model is not None
    return probed(search, task, design, model)[0]


def probed(search: Search, task: Task, design: Design, model: Model) -> tuple[Labels, int]:
    """The labels of a recorded ``search`` by probing, and the requests that its probes took."""
    world = design.worlds[search.outcome.key.domain]
    return by_probes(task, world, recorded_places(search, world, task), model, design.probe)


def add(deficits: TaskDeficits, search: Search, found: Sequence[Sequence[Label]] | None = None) -> None:
    """Take the frontiers of a labelled ``search`` into account, or an empty one if it has none: the task is missing."""
    task = search.outcome.key.task
    if not search.frontiers:
        deficits.add(task, [], [])
    for place, f in enumerate(search.frontiers):
        protected = f.protected if found is None else found[place]
        assert protected is not None
        deficits.add(
            task,
            [None if c.observations is None else list(c.observations) for c in f.candidates],
            protected,
            [c.eligible for c in f.candidates],
            [c.key for c in f.candidates],
        )


def exposed(search: Search, found: Sequence[Sequence[Label]] | None, repeats: int) -> bool:
    """Whether the task of a labelled Native search calibrates: it is protected-exposed, or unresolved."""
    deficits = TaskDeficits(repeats)
    add(deficits, search, found)
    return bool(deficits.exposed)


def certificate(cell: Cell, searches: Iterable[Search], design: Design) -> Certificate:
    """The margin of ``cell``, frozen from its labelled calibration searches."""
    deficits = TaskDeficits(design.spec.evaluator.repeats)
    for search in searches:
        add(deficits, search)
    return freeze(cell, deficits, design)


def freeze(cell: Cell, deficits: TaskDeficits, design: Design) -> Certificate:
    """The margin that the spec's rule gives of ``deficits``, bound to what it was calibrated with."""
    spec = design.spec
    return Certificate.freeze(
        deficits,
        spec.certificate.q,
        delta=spec.certificate.delta,
        epsilon=spec.certificate.epsilon,
        labels=spec.calibration.labels,
        budget=spec.calibration.budget,
        observations=spec.evaluator.repeats,
        matched_to=design.matched_to(cell),
    )
