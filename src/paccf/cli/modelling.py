"""Which model: the options that commands share, made into a spec."""

from __future__ import annotations

from typing import Any

import click
import msgspec

from paccf.cli.output import BadInput
from paccf.models.spec import ModelSpec, SpecError, read_spec


def model_options(command: Any) -> Any:
    """``--model`` and what goes with it. `spec_of` takes them."""
    for option in reversed(
        [
            click.option(
                "--model",
                default="simulated",
                show_default=True,
                metavar="PRESET|URL",
                help="Who answers; `paccf models` lists the presets.",
            ),
            click.option("--model-name", metavar="NAME", help="The model's name at the endpoint."),
            click.option(
                "--model-spec", type=click.Path(), metavar="FILE", help="A TOML file with a [model] table: everything."
            ),
            click.option("--key-env", metavar="VARIABLE", help="The environment variable that holds the key."),
            click.option(
                "--evaluator",
                type=click.Choice(["verdict", "likelihood"]),
                help="How the local model judges.  [default: verdict]",
            ),
            click.option("--concurrency", type=click.IntRange(min=1), metavar="N", help="Most requests in flight."),
        ]
    ):
        command = option(command)
    return command


def spec_of(
    *,
    model: str,
    model_name: str | None,
    model_spec: str | None,
    key_env: str | None,
    evaluator: str | None,
    concurrency: int | None,
    **more: Any,
) -> ModelSpec:
    """The spec that these options ask for; ``more`` are further fields of it. Raises `BadInput`."""
    given = {"model": model_name, "key_env": key_env, "evaluator": evaluator, "concurrency": concurrency, **more}
    given = {key: value for key, value in given.items() if value is not None}
    try:
        if model_spec is None:
            return ModelSpec(preset=model, **given).checked()
        if model != "simulated":
            raise BadInput("--model or --model-spec, not both: the file says who answers")
        return msgspec.structs.replace(read_spec(model_spec), **given).checked()
    except OSError as error:
        raise BadInput(f"cannot read {model_spec}: {error.strerror or error}") from None
    except SpecError as error:
        raise BadInput(f"--model: {error}") from None
