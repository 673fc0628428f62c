"""From a config to live objects: everything that can be found wrong without a call is found wrong here."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from adapters.adapter import AdapterError
from adapters.candidate import DEMONSTRATIONS, Candidate
from adapters.clients.client import Constraint, JsonSchema, Labels, ModelClient, Request
from adapters.clients.retry import OnRetry
from adapters.dataset import DataFileError, Row, data_hash, input_names
from adapters.example import Example
from adapters.formats import ColumnError, DatasetError
from adapters.nearest import nearest
from adapters.prompt import PromptAdapter
from adapters.split import SealedTest, SearchData, Shares, split_dataset
from optimizer.clients import Clients
from optimizer.complaints import complaints
from optimizer.compose import Composer
from optimizer.config import MAX_BYTES, Config, DataConfig, Endpoint, LabelsConfig, PromptAdapterConfig
from optimizer.configfile import dotted
from optimizer.data import rows_of
from optimizer.errors import PlacedError
from optimizer.evaluate import TaskModel
from optimizer.judging import ScorerModel
from optimizer.pool import Composing
from optimizer.propose.demos import offers, unshown
from optimizer.propose.guards import Guards
from optimizer.propose.overlap import Overlap
from optimizer.propose.proposer import Proposer
from optimizer.propose.reflection import Reflection
from scoring.loading import load_scorer
from scoring.scorer import Scorer, ScorerConfigError
from scoring.suite import Suite

NONE_YET: Mapping[int, Scorer] = {}


@dataclass(frozen=True)
class Prepared:
    """A run that could begin. `data` is all that the search sees; the test split is in `test`, sealed.

    `hashes`: what examples and scorers are."""

    config: Config
    folder: Path
    seed: Candidate
    data: SearchData
    test: SealedTest
    hashes: Mapping[str, str]
    adapter: PromptAdapter
    models: Sequence[TaskModel]
    suite: Suite
    guards: Guards
    proposers: Sequence[Proposer]
    composing: Composing
    clients: Clients
    warnings: Sequence[str]


def prepare(config: Config, folder: Path, on_retry: OnRetry | None = None, scorers: Mapping[int, Scorer] = NONE_YET) -> Prepared:
    """`folder`: where the config's relative paths start. `scorers`: those of the config's that are made already, by their place there.

    Raises PlacedError, or DatasetError for what stands in the data's file."""
    rows = _rows(config.data, folder)
    with _at("data"):
        splits = split_dataset(rows, _shares(config.data), config.random_seed)
    seed = _seed(config)
    everything = [row.example for row in rows]
    with _at("adapter"):
        adapter = _adapter(config.adapter, rows)
        warnings = [*splits.notes, *_held(seed, splits.search, everything), *adapter.check(seed, everything)]
    clients = Clients(config.concurrency, on_retry)
    specs = enumerate(config.scoring.scorers)
    suite = Suite([scorers[index] if index in scorers else _scorer(index, spec, folder, clients) for index, spec in specs])
    _check_objectives(config, suite.dimensions)
    models = [
        TaskModel(model.id, clients.make(model, f"models.{index}.model"), sampled=model.temperature > 0)
        for index, model in enumerate(config.models)
    ]
    reflection = config.proposers.reflection
    train, val = splits.search.train, splits.search.val
    max_bytes = MAX_BYTES if reflection is None else reflection.max_bytes
    guards = Guards(adapter.placeholders, max_bytes, train, Overlap(train, val))
    hashes = {
        "examples": data_hash(everything),
        "train examples": data_hash(train),
        "val examples": data_hash(val),
        "scorers": suite.version,
    }
    proposers = _proposers(config, clients, guards)
    if config.budget.usd is not None:
        _check_prices(clients)
    return Prepared(
        config=config,
        folder=folder,
        seed=seed,
        data=splits.search,
        test=splits.test,
        hashes=hashes,
        adapter=adapter,
        models=models,
        suite=suite,
        guards=guards,
        proposers=proposers,
        composing=_composing(config, guards, seed, splits.search),
        clients=clients,
        warnings=[*warnings, *_missing_keys(clients)],
    )


@contextmanager
def _at(place: str) -> Iterator[None]:
    """Errors of parts that know nothing of configs, with their place in the config."""
    try:
        yield
    except (DatasetError, AdapterError, ScorerConfigError) as error:
        raise PlacedError(place, str(error)) from error


def _scorer(index: int, spec: str | dict[str, Any], folder: Path, clients: Clients) -> Scorer:
    place = f"scoring.scorers.{index}"

    def model(settings: Mapping[str, Any]) -> ModelClient:
        try:
            endpoint = Endpoint.model_validate(settings)
        except ValidationError as error:
            told = complaints(error, Endpoint, settings)
            raise ScorerConfigError("; ".join(f"{dotted(each.path)}: {each.message}" for each in told)) from None
        return ScorerModel(clients.make(endpoint, f"{place} ({endpoint.model})"))

    with _at(place):
        return load_scorer(spec, folder, model)


def _rows(data: DataConfig, folder: Path) -> list[Row]:
    try:
        return rows_of(data, folder)
    except DataFileError as error:
        raise PlacedError("data.path", str(error)) from error
    except ColumnError as error:
        raise PlacedError(f"data.{error.role}", str(error)) from error


def _shares(data: DataConfig) -> Shares | None:
    split = data.split
    return None if split is None else Shares(split.train, split.val, split.test, split.stratify)


def _seed(config: Config) -> Candidate:
    """The seed's components, with room for demonstrations where they are to be searched."""
    room = {DEMONSTRATIONS: ""} if config.proposers.demos is not None else {}
    return Candidate({**room, **config.seed})


def _held(seed: Candidate, data: SearchData, everything: Sequence[Example]) -> list[str]:
    """A warning where the seed holds what it is measured on."""
    train = set(data.train)
    others = [example for example in everything if example not in train]
    held = [others[place].spoken for place in Overlap(data.train, others).held(seed)]
    if not held:
        return []
    named = f"{held[0]} and others" if held[1:] else held[0]
    return [
        f"the seed holds {len(held)} of the examples of val and test nearly word for word ({named}): what is measured there is too good. "
        "Take them out of the seed, or out of the data"
    ]


def _adapter(config: PromptAdapterConfig, rows: Sequence[Row]) -> PromptAdapter:
    constraint: Constraint | None = None
    if config.answer is not None:
        answer = config.answer
        constraint = Labels(tuple(answer.labels)) if isinstance(answer, LabelsConfig) else JsonSchema(answer.json_schema)
    return PromptAdapter(
        system=config.system,
        user=config.user,
        inputs=input_names(row.example for row in rows),
        demonstrations=config.demonstrations,
        constraint=constraint,
    )


def _proposers(config: Config, clients: Clients, guards: Guards) -> list[Proposer]:
    proposers: list[Proposer] = []
    reflection = config.proposers.reflection
    if reflection is not None:
        if set(config.seed) <= {DEMONSTRATIONS}:
            raise PlacedError("proposers.reflection", "the seed has no component but demonstrations; give it a text to rewrite")
        client = clients.make(reflection, "proposers.reflection.model")
        proposers.append(Reflection(client, guards, reflection.minibatch, config.scoring.reveal_expected, config.objectives))
    return proposers


def _composing(config: Config, guards: Guards, seed: Candidate, data: SearchData) -> Composing:
    def problem(first: Candidate, made: Candidate) -> str | None:
        return guards.problem(first, made, frozenset())

    demos = config.proposers.demos
    if demos is None:
        return Composing((), Composer(guards.placeholders, 0), problem)
    if not config.scoring.reveal_expected:
        raise PlacedError(
            "proposers.demos",
            "demonstrations put expected answers into prompts, which scoring.reveal_expected: false forbids; leave demos out",
        )
    if not offers(data.train):
        raise PlacedError("proposers.demos", "no train example has an expected answer to show; add some, or leave demos out")
    # What the seed shows is known already, maybe in another form: an example shown twice wastes its room.
    return Composing(guards.offered(offers(unshown(seed, data.train))), Composer(guards.placeholders, demos.max), problem)


def _check_objectives(config: Config, given: Sequence[str] | None) -> None:
    """`given`: the dimensions that the scorers declare; None where they do not."""
    ids = [model.id for model in config.models]
    for name in config.objectives.models:
        if name not in ids:
            raise PlacedError(f"objectives.models.{name}", f"no model has the id {name!r}{nearest(name, ids)}")
    for name in config.objectives.dimensions or ():
        if given is not None and name not in given:
            raise no_dimension(name, given)


def no_dimension(name: str, given: Sequence[str], hint: str = "") -> PlacedError:
    told = f"no scorer gives the dimension {name!r}{nearest(name, given)}"
    stop = "" if not hint else " " if told.endswith("?") else ". "
    return PlacedError(f"objectives.dimensions.{name}", f"{told}{stop}{hint}")


def _missing_keys(clients: Clients) -> list[str]:
    """A warning only: a config may be checked where its keys are not."""
    return [f"the environment variable {name} is not set, and a run needs the key in it" for name in clients.missing_keys]


def _check_prices(clients: Clients) -> None:
    """An unknown price is an error where money is limited: it is never taken for zero."""
    for place, client in clients.made.items():
        if client.ceiling(Request(())).usd is None:
            raise PlacedError(
                place,
                f"the price of {client.model} is not known, so budget.usd cannot be kept. Give it with "
                "price: {input: …, output: …} in USD per million tokens, or leave budget.usd out.",
            )
