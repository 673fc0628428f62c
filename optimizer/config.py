"""The config's shape: frozen pydantic models, one for each block of the YAML file.

What a field means is said in its description, which is also what editors show through the JSON schema.
"""

import math
import re
from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from adapters.plain import plain

SECRET = re.compile(r"authorization|api[-_]?key|secret|password|credential|bearer|(ad|session|access|auth)[-_]?token", re.IGNORECASE)
LEAST_WEIGHT = 1e-6
MOST = 10**15
"""Of what is counted: more than anybody can pay for, and still exact as a float."""
MAX_BYTES = 20_000
"""The longest text of a component, where nothing else is said."""
CONSTRAINT = r"^(<=|>=) ?(0(\.\d+)?|1(\.0+)?|\.\d+)$"
NEARLY = re.compile(r"\s*([<>=]*)\s*(\d*\.?\d+)\s*(%?)\s*")
"""What somebody may write who means a constraint: another sign, points of 100."""


class Block(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False, use_attribute_docstrings=True)

    @field_validator("*", mode="before")
    @classmethod
    def characters(cls, value: object) -> object:
        # Half a surrogate pair, which YAML lets pass, is no character: nothing could be written or sent with it.
        for each in value.values() if isinstance(value, dict) else [value]:
            if isinstance(each, str):
                plain(each)
        return value


class Price(Block):
    input: Annotated[float, Field(ge=0)]
    """USD for a million input tokens."""
    output: Annotated[float, Field(ge=0)]
    """USD for a million output tokens."""


class Endpoint(Block):
    """One model at one provider."""

    model: Annotated[str, Field(min_length=1)]
    """`local/smollm2` for the embedded model, or a LiteLLM name such as `anthropic/claude-haiku-4-5`."""
    temperature: Annotated[float, Field(ge=0, le=2)] = 0.0
    max_tokens: Annotated[int, Field(ge=1, le=MOST)] = 1024
    """The longest answer, in tokens; budgets reserve for it."""
    api_base: str | None = None
    """The address of an OpenAI-compatible server; absent: the provider's own."""
    api_key_env: Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")] | None = None
    """The name of the environment variable that holds the key; absent: the provider's usual one. An `api_base` may do without either."""
    concurrency: Annotated[int, Field(ge=1)] | None = None
    """Calls in flight to this model; absent: only the run's limit holds."""
    timeout: Annotated[float, Field(gt=0)] = 120.0
    """Seconds for one attempt."""
    attempts: Annotated[int, Field(ge=1, le=20)] = 6
    """Tries of one call, the first included; only rate limits, time-outs, lost connections and server errors are tried again."""
    price: Price | None = None
    """What tokens cost, where LiteLLM's price list does not know the model."""
    params: dict[str, Any] = Field(default_factory=dict)
    """Further parameters, sent to the provider as they are; never keys, which come from the environment."""

    @field_validator("api_base")
    @classmethod
    def address(cls, api_base: str | None) -> str | None:
        if api_base is not None and not re.fullmatch(r"https?://[^\s/]\S*", api_base):
            raise ValueError(f"{api_base!r} is no address of a server: write one such as http://127.0.0.1:8000/v1")
        return api_base

    @field_validator("params")
    @classmethod
    def without_secrets(cls, params: dict[str, Any]) -> dict[str, Any]:
        # A config is kept in the manifest, and its parameters are a part of every call's identity: no place for a key.
        secret = next((name for name in _names(params) if SECRET.search(name)), None)
        if secret is not None:
            raise ValueError(f"{secret!r} looks like a key; put it into an environment variable and name that in api_key_env")
        return params


class ModelConfig(Endpoint):
    """A task model: one that runs candidates."""

    id: Annotated[str, Field(min_length=1, max_length=60, pattern=r"^[^:\s]+$")]
    """The short name in objectives, `id:dimension`; no colon, no space."""


class SplitConfig(Block):
    """Shares of the examples, dealt out by the run's random seed. They add up to 1."""

    train: Annotated[float, Field(gt=0, lt=1)]
    val: Annotated[float, Field(gt=0, lt=1)]
    test: Annotated[float, Field(ge=0, lt=1)] = 0.0
    stratify: bool = False
    """Keep the mixture of expected answers alike in every part."""

    @model_validator(mode="after")
    def whole(self) -> "SplitConfig":
        total = self.train + self.val + self.test
        if abs(total - 1) > 1e-6:
            raise ValueError(f"train, val and test add up to {total:g}; they have to add up to 1")
        return self


class DataConfig(Block):
    path: Annotated[str, Field(min_length=1)] | None = None
    """JSON Lines, JSON, CSV, YAML or Parquet, relative to the config's folder; or `hf://owner/name`."""
    rows: Annotated[list[dict[str, Any]], Field(min_length=1)] | None = None
    """The rows themselves, in place of a path."""
    split: SplitConfig | None = None
    """Absent: the rows say themselves, in a column `split` that holds train, val or test."""
    inputs: list[str] | None = None
    """The columns that are inputs, for rows without a column `inputs`; absent: all that have no other part."""
    expected: str = "expected"
    """The column with the right answer."""
    id: str = "id"
    """The column with the example's id; where there is none, a hash of the content is the id."""
    group: str = "group"
    """The column that says which examples belong together: never spread over splits, one cluster in intervals."""

    @field_validator("rows")
    @classmethod
    def without_objects(cls, rows: list[dict[str, Any]] | None) -> list[dict[str, Any]] | None:
        # A config is kept in the manifest, which is JSON.
        return None if rows is None else [plain(row, f"row {number}") for number, row in enumerate(rows, 1)]

    @model_validator(mode="after")
    def one_of_them(self) -> "DataConfig":
        if (self.path is None) == (self.rows is None):
            raise ValueError("give a path, or the rows themselves; one of them")
        return self


class LabelsConfig(Block):
    labels: Annotated[list[str], Field(min_length=2)]
    """The answer is one of these, word for word."""


class JsonConfig(Block):
    json_schema: dict[str, Any]
    """The answer is JSON that fits this schema."""


class PromptAdapterConfig(Block):
    """One call per example. `{name}` in a template stands for a component or an example input; `{{` is a brace."""

    kind: Literal["prompt"] = "prompt"
    system: str | None = None
    """Template of the system message."""
    user: Annotated[str, Field(min_length=1)]
    """Template of the user message."""
    demonstrations: Literal["turns", "text"] = "turns"
    """How worked examples are shown: as earlier turns of the conversation, or as text before the user message."""
    answer: LabelsConfig | JsonConfig | None = None
    """What every answer has to be: enforced by the model client where it can, checked where it cannot."""


class ScoringConfig(Block):
    scorers: Annotated[list[str | dict[str, Any]], Field(min_length=1)]
    """Each `name` of a built-in scorer (docs/scoring.md lists them) or an installed plug-in, `{name: {settings}}`, or
    `{python: "file.py:function"}` / `{python: "module:attribute"}`."""
    reveal_expected: bool = True
    """Whether a reflection model may read expected answers. False keeps them out of all that it is shown: of the feedback of built-in
    scorers, and of answers, which are not shown where they are right. What a scorer of your own writes is shown, except for what
    `Score.discreet` leaves out. Demonstrations show expected answers, so the proposer `demos` cannot be used then."""
    on_error: Literal["stop", "fail_cell"] = "stop"
    """What a scorer that fails does: end the run, or leave the cell failed, as when a call fails."""


class DimensionConfig(Block):
    """One dimension that counts."""

    weight: Annotated[float, Field(ge=0, le=1000)] = 1.0
    """How much it counts in the overall mean; 0: it is on the frontier and in the report, and counts nothing in choosing the best."""
    direction: Literal["maximize", "minimize"] = "maximize"
    """`minimize`: lower values of its scorer are better. Those of the built-in scorers are better when higher, also of cost and length."""
    constraint: Annotated[str, Field(pattern=CONSTRAINT)] | None = None
    """The mean that it has to have with every model, for example `>= 0.95`, or `<= 0.05` where lower is better. Only a candidate that
    meets all constraints is the best, as long as there is one."""
    floor: Annotated[float, Field(ge=0, lt=1)] | None = None
    """How much worse than the seed the best may be here, with any model: 0.02 is two points of 100. A candidate that is believed to be
    worse by more is not chosen, and where the report finds the best to be, the seed is kept."""

    @field_validator("constraint", mode="before")
    @classmethod
    def a_sign_and_a_share(cls, constraint: object) -> object:
        if constraint is None or (isinstance(constraint, str) and re.match(CONSTRAINT, constraint)):
            return constraint
        raise ValueError(f"a constraint is >= or <= and a value from 0 to 1, not {constraint!r}; {_meant(str(constraint))}")

    @field_validator("weight")
    @classmethod
    def not_next_to_nothing(cls, weight: float) -> float:
        # Products of weights are added up, and what is next to nothing is rounded to nothing there.
        if 0 < weight < LEAST_WEIGHT:
            raise ValueError(f"must be 0, or at least {LEAST_WEIGHT:g}, not {weight:g}")
        return weight

    @property
    def required(self) -> float | None:
        """The constraint as the least that 0..1, higher is better, has to reach."""
        if self.constraint is None:
            return None
        limit = float(self.constraint.lstrip("<>= "))
        return 1 - limit if self.direction == "minimize" else limit

    @model_validator(mode="after")
    def the_right_way(self) -> "DimensionConfig":
        sign = "<=" if self.direction == "minimize" else ">="
        if self.constraint is not None and not self.constraint.startswith(sign):
            raise ValueError(
                f"with direction {self.direction} a constraint begins with {sign}; {self.constraint!r} would ask for the worse"
            )
        return self


def _meant(text: str) -> str:
    """What to write in place of the text, in quotes, as YAML needs it."""
    found = NEARLY.fullmatch(text)
    number = float(found[2]) if found else math.inf
    if found is None or number > 100:
        return 'write it as in ">= 0.7"'
    sign, share = "<=" if "<" in found[1] else ">=", number / 100 if found[3] or number > 1 else number
    return f'did you mean "{sign} {share:g}"?'


class ObjectivesConfig(Block):
    """What is wanted. Without it, every dimension that the scorers give counts alike, with every model."""

    dimensions: Annotated[dict[str, DimensionConfig], Field(min_length=1)] | None = None
    """Dimension → how it counts; those not named here are no objectives. Absent: all that the scorers give."""
    models: dict[str, Annotated[float, Field(ge=LEAST_WEIGHT, le=1000)]] = Field(default_factory=dict)
    """Model id → how much it counts in means over the models; those not named count 1."""
    best: Literal["mean", "worst_model", "per_model"] = "mean"
    """Which candidate is the best: the one with the highest weighted mean over all objectives; the one whose worst model has the highest
    mean; or one for each model, each with that model's highest mean."""

    def oriented(self, values: Mapping[str, float]) -> dict[str, float]:
        """One score's values, 0..1: those that are objectives, turned so that higher is better."""
        chosen = values if self.dimensions is None else self.dimensions
        return {name: 1 - value if self.lower_is_better(name) else value for name, value in values.items() if name in chosen}

    def lower_is_better(self, dimension: str) -> bool:
        """In the units of its scorer."""
        return self.dimensions is not None and dimension in self.dimensions and self.dimensions[dimension].direction == "minimize"

    @model_validator(mode="after")
    def some(self) -> "ObjectivesConfig":
        if self.dimensions is not None and not any(dimension.weight for dimension in self.dimensions.values()):
            raise ValueError("every dimension has weight 0; one at least has to count")
        return self


class ReflectionConfig(Endpoint):
    """A model reads what went wrong and rewrites one component."""

    temperature: Annotated[float, Field(ge=0, le=2)] = 1.0
    max_tokens: Annotated[int, Field(ge=1, le=MOST)] = 4096
    minibatch: Annotated[int, Field(ge=1)] = 20
    """Train examples that it reads at a time."""
    max_bytes: Annotated[int, Field(ge=200)] = MAX_BYTES
    """The longest text that a proposal may have for one component, in bytes of UTF-8 (one for an English letter)."""


class DemosConfig(Block):
    """Worked examples from the train split are tried as lines of the component `demonstrations`; needs no model."""

    max: Annotated[int, Field(ge=1, le=64)] = 4
    """The most demonstrations that a new candidate may have."""


class ProposersConfig(Block):
    reflection: ReflectionConfig | None = None
    demos: DemosConfig | None = None

    @model_validator(mode="after")
    def some(self) -> "ProposersConfig":
        if self.reflection is None and self.demos is None:
            raise ValueError("name at least one proposer: reflection (with a model) or demos")
        return self


class BudgetConfig(Block):
    """Limits of the whole run, its report included. None is ever passed."""

    rollouts: Annotated[int, Field(ge=1, le=MOST)] | None = None
    """Cells to fill: one candidate on one example with one model."""
    calls: Annotated[int, Field(ge=1, le=MOST)] | None = None
    """Model calls that are answered, reflection included."""
    tokens: Annotated[int, Field(ge=1, le=MOST)] | None = None
    """Input and output tokens together."""
    usd: Annotated[float, Field(gt=0)] | None = None
    minutes: Annotated[float, Field(gt=0)] | None = None
    """Working time, over all sittings; what is under way when it is up is finished."""

    @model_validator(mode="after")
    def some(self) -> "BudgetConfig":
        if all(value is None for value in self.model_dump().values()):
            raise ValueError("set at least one limit: rollouts, calls, tokens, usd or minutes")
        return self

    @property
    def priced(self) -> bool:
        """Whether claims have to tell tokens and money."""
        return self.tokens is not None or self.usd is not None


class FailuresConfig(Block):
    max_share: Annotated[float, Field(ge=0, le=1)] = 0.2
    """The run stops when more than this share of its cells failed for reasons outside the content."""


class Config(Block):
    """A run of promptfront."""

    version: Literal[1]
    name: Annotated[str, Field(min_length=1, pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$")]
    """The run's name: its directory is `runs/<name>`."""
    random_seed: Annotated[int, Field(ge=0)] = 0
    concurrency: Annotated[int, Field(ge=1, le=1024)] = 16
    """Calls in flight over all models: changes the speed, never the result."""
    in_flight: Annotated[int, Field(ge=1, le=64)] = 4
    """Jobs of the search in flight, once it has gone on for a while; proposals that are behind their turn come on top. A part of the
    result, so never tuned by the clock."""
    repeats: Literal["auto"] | Annotated[int, Field(ge=1, le=20)] = "auto"
    """How often a cell may be filled, where models or judges turn out to be noisy: a few of the seed's cells are filled twice to see.
    1: nothing is measured or repeated; auto: up to 3."""
    seed: Annotated[dict[str, str], Field(min_length=1)]
    """Component name → the text that the search starts from."""
    adapter: PromptAdapterConfig
    models: Annotated[list[ModelConfig], Field(min_length=1)]
    data: DataConfig
    scoring: ScoringConfig
    objectives: ObjectivesConfig = ObjectivesConfig()
    proposers: ProposersConfig
    budget: BudgetConfig
    failures: FailuresConfig = FailuresConfig()

    @field_validator("models")
    @classmethod
    def distinct(cls, models: list[ModelConfig]) -> list[ModelConfig]:
        ids = [model.id for model in models]
        twice = sorted({i for i in ids if ids.count(i) > 1})
        if twice:
            raise ValueError(f"the id {twice[0]!r} is used twice; every model needs its own")
        return models


def _names(value: object) -> Iterator[str]:
    """Every key in nested mappings and lists."""
    if isinstance(value, dict):
        for name, inner in value.items():
            yield str(name)
            yield from _names(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _names(inner)
