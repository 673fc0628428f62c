"""The package's own names: all there, and nothing loaded before it is used."""

import subprocess
import sys
from importlib import import_module

import pytest

import scoring


def test_every_name_is_its_modules() -> None:
    for name, module in scoring._HOME.items():
        assert getattr(scoring, name) is getattr(import_module(f"scoring.{module}"), name)
        assert name in dir(scoring)


def test_the_names_that_types_are_checked_by_are_the_same() -> None:
    with open(scoring.__file__, encoding="utf-8") as file:  # noqa: PTH123
        lines = [line.split() for line in file if line.startswith("    from scoring.")]
    assert {line[5]: line[1].removeprefix("scoring.") for line in lines} == scoring._HOME


def test_an_unknown_name_is_told() -> None:
    with pytest.raises(AttributeError, match="module 'scoring' has no attribute 'compute_scores'"):
        scoring.compute_scores  # type: ignore[attr-defined]  # noqa: B018


@pytest.mark.parametrize(
    ("statement", "absent"),
    [("import scoring", ["pydantic", "numpy", "litellm"]), ("from scoring import compute_objective_scores", ["numpy", "litellm"])],
)
def test_importing_is_cheap(statement: str, absent: list[str]) -> None:
    code = f"import sys\n{statement}\nsys.exit(', '.join(name for name in {absent} if name in sys.modules) or 0)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr.strip()) == (0, "")
