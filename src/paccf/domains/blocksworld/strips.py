"""STRIPS: facts, operators, grounded steps, and a strict plan validator. Untyped, without negation or conditions.

A state is a frozenset of ground atoms. Reading refuses what it does not know; nothing is guessed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from paccf.domains.blocksworld.forms import Form, PddlError, Word, name_of, read_form, shown

Atom = tuple[str, ...]
Atoms = frozenset[Atom]


@dataclass(frozen=True, slots=True)
class Operator:
    """An action schema. Its parameters are called ``?0``, ``?1``, ... so that equal schemas are equal values."""

    name: str
    arity: int
    pre: Atoms
    add: Atoms
    delete: Atoms


@dataclass(frozen=True, slots=True)
class Domain:
    """``predicates`` are arities by name, ``operators`` schemas by name."""

    name: str
    predicates: Mapping[str, int]
    operators: Mapping[str, Operator]


@dataclass(frozen=True, slots=True)
class Problem:
    """One instance. ``init`` is the whole first state, ``goal`` the facts that have to hold at the end."""

    name: str
    objects: tuple[str, ...]
    init: Atoms
    goal: Atoms


class Step(NamedTuple):
    """A grounded operator."""

    name: str
    args: tuple[str, ...]
    pre: Atoms
    add: Atoms
    delete: Atoms

    @property
    def text(self) -> str:
        """As PDDL writes it: ``(unstack b c)``."""
        return f"({' '.join((self.name, *self.args))})"


def ground(operator: Operator, args: Sequence[str]) -> Step:
    """``operator`` with ``args`` for its parameters, of which it has as many."""
    named = {f"?{i}": arg for i, arg in enumerate(args)}

    def fill(atoms: Atoms) -> Atoms:
        return frozenset((atom[0], *[named[p] for p in atom[1:]]) for atom in atoms)

    return Step(operator.name, tuple(args), fill(operator.pre), fill(operator.add), fill(operator.delete))


def applicable(domain: Domain, state: Atoms) -> list[Step]:
    """All steps that are legal in ``state``, in order of operator and arguments. Found by matching preconditions with
    facts, so that the cost grows with the facts and not with all possible arguments."""
    facts: dict[str, list[Atom]] = {}
    for atom in sorted(state):
        facts.setdefault(atom[0], []).append(atom)
    found = []
    for operator in domain.operators.values():
        pattern = sorted(operator.pre, key=lambda atom: (len(facts.get(atom[0], ())), atom))
        for named in _matches(pattern, facts, {}):
            found.append(ground(operator, [named[f"?{i}"] for i in range(operator.arity)]))
    return sorted(found, key=lambda step: (step.name, step.args))


def _matches(
    pattern: Sequence[Atom], facts: Mapping[str, Sequence[Atom]], named: dict[str, str]
) -> Iterator[dict[str, str]]:
    """All ways to name the parameters so that every atom of ``pattern`` is a fact."""
    if not pattern:
        yield named
        return
    first, rest = pattern[0], pattern[1:]
    for fact in facts.get(first[0], ()):
        more = dict(named)
        if all(more.setdefault(p, value) == value for p, value in zip(first[1:], fact[1:], strict=True)):
            yield from _matches(rest, facts, more)


def apply(step: Step, state: Atoms) -> Atoms:
    """The state after ``step``, which has to be legal in ``state``."""
    return (state - step.delete) | step.add


def fault(domain: Domain, problem: Problem, plan: Sequence[str]) -> str | None:
    """Why ``plan``, steps written like ``(unstack b c)``, does not solve ``problem``; `None` if it does. Strict: every
    step has to be a form of a known operator with known objects, legal where it stands, and the goal has to hold at
    the end."""
    state = problem.init
    for number, line in enumerate(plan, 1):
        try:
            form = read_form(line, f"step {number}")
            words = [name_of(item, f"step {number}", "an operator or object") for item in form.items]
        except PddlError as error:
            return str(error)
        operator = domain.operators.get(words[0]) if words else None
        if operator is None:
            return f"step {number}: {line!r:.60} is no operator of {domain.name}"
        if len(words) != operator.arity + 1 or not set(words[1:]) <= set(problem.objects):
            return f"step {number}: {operator.name} takes {operator.arity} of the problem's objects, not {line!r:.60}"
        step = ground(operator, words[1:])
        if missing := step.pre - state:
            return f"step {number}: {step.text} needs {written(missing)}"
        state = apply(step, state)
    if missing := problem.goal - state:
        return f"the plan ends without {written(missing)}"
    return None


def written(atoms: Atoms) -> str:
    """Atoms as PDDL, sorted."""
    return " ".join(f"({' '.join(atom)})" for atom in sorted(atoms))


def read_domain(text: str, where: str = "domain") -> Domain:
    """The STRIPS domain in ``text``. Raises `PddlError`."""
    name, sections = _sections(text, where, "domain", (":requirements", ":predicates"), (":action",))
    wanted = sections.get(":requirements", Form(1, []))
    for item in wanted.items[1:]:
        if not isinstance(item, Word) or item.text != ":strips":
            raise PddlError(f"{where}:{item.line}: {shown(item)} is not supported, only :strips is")
    if ":predicates" not in sections:
        raise PddlError(f"{where}: a domain has a section (:predicates ...)")
    predicates: dict[str, int] = {}
    for item in sections[":predicates"].items[1:]:
        form = _form(item, where)
        predicate = name_of(form.items[0] if form.items else form, where, "a predicate")
        if predicate in predicates:
            raise PddlError(f"{where}:{form.line}: {predicate} is declared twice")
        predicates[predicate] = len(_parameters(form.items[1:], where))
    operators: dict[str, Operator] = {}
    for item in sections[":action"].items:
        operator = _operator(_form(item, where), predicates, where)
        if operator.name in operators:
            raise PddlError(f"{where}:{item.line}: {operator.name} is defined twice")
        operators[operator.name] = operator
    return Domain(name, predicates, dict(sorted(operators.items())))


def read_problem(text: str, domain: Domain, where: str = "problem") -> Problem:
    """The instance of ``domain`` in ``text``. Raises `PddlError`."""
    name, sections = _sections(text, where, "problem", (":requirements", ":domain", ":objects", ":init", ":goal"))
    for needed in (":domain", ":objects", ":init", ":goal"):
        if needed not in sections:
            raise PddlError(f"{where}: a problem has a section ({needed} ...)")
    of = sections[":domain"]
    if len(of.items) != 2 or name_of(of.items[1], where, "a domain") != domain.name:
        raise PddlError(f"{where}:{of.line}: this is a problem of another domain; here it is {domain.name}")
    objects: dict[str, None] = {}
    for item in sections[":objects"].items[1:]:
        known = name_of(item, where, "an object; types are not supported")
        if known in objects:
            raise PddlError(f"{where}:{item.line}: the object {known} is declared twice")
        objects[known] = None
    terms = {known: known for known in objects}
    init = _atoms(sections[":init"].items[1:], domain.predicates, terms, where)
    goal = sections[":goal"]
    if len(goal.items) != 2:
        raise PddlError(f"{where}:{goal.line}: a goal is one fact, or several in (and ...)")
    wanted = _atoms(_conjuncts(goal.items[1], where), domain.predicates, terms, where)
    if not wanted:
        raise PddlError(f"{where}:{goal.line}: the goal is empty")
    return Problem(name, tuple(objects), init, wanted)


def _sections(
    text: str, where: str, kind: str, once: Sequence[str], many: Sequence[str] = ()
) -> tuple[str, dict[str, Form]]:
    """Name and sections of a ``(define (kind name) ...)``. The sections that may repeat are forms of their own, all
    in one."""
    whole = read_form(text, where)
    title = whole.items[1] if len(whole.items) > 1 else None
    if whole.head != "define" or not isinstance(title, Form) or title.head != kind or len(title.items) != 2:
        raise PddlError(f"{where}:{whole.line}: expected (define ({kind} NAME) ...)")
    found = {name: Form(whole.line) for name in many}
    for item in whole.items[2:]:
        form = _form(item, where)
        if form.head in many:
            found[form.head].items.append(form)
        elif form.head not in once:
            raise PddlError(f"{where}:{form.line}: {shown(form)} is not known here; {', '.join((*once, *many))} are")
        elif form.head in found:
            raise PddlError(f"{where}:{form.line}: a second {form.head}")
        else:
            found[form.head] = form
    return name_of(title.items[1], where, f"a {kind}"), found


def _operator(form: Form, predicates: Mapping[str, int], where: str) -> Operator:
    if len(form.items) < 2:
        raise PddlError(f"{where}:{form.line}: an action has a name")
    name = name_of(form.items[1], where, "an action")
    parts: dict[str, Form] = {}
    rest = form.items[2:]
    for key, value in zip(rest[::2], rest[1::2], strict=False):
        part = key.text if isinstance(key, Word) else ""
        if part not in (":parameters", ":precondition", ":effect") or part in parts:
            raise PddlError(f"{where}:{key.line}: {shown(key)} is not expected in the action {name}")
        parts[part] = _form(value, where)
    if len(parts) != 3 or len(rest) != 6:
        raise PddlError(f"{where}:{form.line}: the action {name} needs :parameters, :precondition and :effect")
    parameters = _parameters(parts[":parameters"].items, where)
    terms = {parameter: f"?{i}" for i, parameter in enumerate(parameters)}
    pre = _atoms(_conjuncts(parts[":precondition"], where), predicates, terms, where)
    if {p for atom in pre for p in atom[1:]} != set(terms.values()):
        raise PddlError(f"{where}:{form.line}: the precondition of {name} has to name all of its parameters")
    add: list[Word | Form] = []
    delete: list[Word | Form] = []
    for item in _conjuncts(parts[":effect"], where):
        if isinstance(item, Form) and item.head == "not":
            if len(item.items) != 2:
                raise PddlError(f"{where}:{item.line}: not takes one fact")
            delete.append(item.items[1])
        else:
            add.append(item)
    return Operator(
        name, len(parameters), pre, _atoms(add, predicates, terms, where), _atoms(delete, predicates, terms, where)
    )


def _parameters(items: Sequence[Word | Form], where: str) -> list[str]:
    found: list[str] = []
    for item in items:
        if not isinstance(item, Word) or not item.text.startswith("?"):
            raise PddlError(f"{where}:{item.line}: {shown(item)} is no parameter; types are not supported")
        name_of(Word(item.text[1:], item.line), where, "a parameter")
        if item.text in found:
            raise PddlError(f"{where}:{item.line}: the parameter {item.text} appears twice")
        found.append(item.text)
    return found


def _conjuncts(item: Word | Form, where: str) -> list[Word | Form]:
    form = _form(item, where)
    return form.items[1:] if form.head == "and" else [form] if form.items else []


def _atoms(items: Sequence[Word | Form], predicates: Mapping[str, int], terms: Mapping[str, str], where: str) -> Atoms:
    """The facts that ``items`` are, over known predicates and ``terms``."""
    found = set()
    for item in items:
        form = _form(item, where)
        predicate = form.head
        if predicate not in predicates:
            raise PddlError(
                f"{where}:{form.line}: {shown(form)} is no fact; the predicates are {', '.join(predicates)}"
            )
        count, arity = len(form.items) - 1, predicates[predicate]
        if count != arity:
            raise PddlError(f"{where}:{form.line}: {predicate} is about {arity} objects, not {count}")
        args = []
        for term in form.items[1:]:
            if not isinstance(term, Word) or term.text not in terms:
                raise PddlError(f"{where}:{term.line}: {shown(term)} was not declared")
            args.append(terms[term.text])
        found.add((predicate, *args))
    return frozenset(found)


def _form(item: Word | Form, where: str) -> Form:
    if not isinstance(item, Form):
        raise PddlError(f"{where}:{item.line}: {shown(item)} stands where a form in brackets belongs")
    return item
