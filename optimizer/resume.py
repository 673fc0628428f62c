"""What another budget makes of a run that has begun: whether it goes on, and the room that takes."""

from collections.abc import Mapping, Set
from dataclasses import replace
from pathlib import Path
from typing import Any

from optimizer.build import Prepared
from optimizer.configfile import config_from_manifest, resolved
from optimizer.errors import BudgetError
from optimizer.evaluate import CellKey
from optimizer.journal import REPORTED, UNSEALED, Journal
from optimizer.plan import report_cells
from optimizer.rundir import RESULT, read_manifest, read_result


def former_budget(out: Path) -> Mapping[str, Any]:
    """Limit → what it was in the sitting before; None where there was none."""
    budget: Mapping[str, Any] = read_manifest(out)["config"].get("budget", {})
    return budget


def lasting_end(out: Path, former: Mapping[str, Any], prepared: Prepared) -> str | None:
    """What has ended the run, where the other budget does not take that away: its search would come to the same end, with less room for
    what it has paid for. None where the run goes on, or nobody knows."""
    if not (out / RESULT).is_file():
        return None
    ended_by: str = read_result(out)["stopped_by"]
    if ended_by not in former:
        return ended_by
    was, limit = former[ended_by], getattr(prepared.config.budget, ended_by)
    return None if limit is None or was is None or limit > was else ended_by


def with_budget(prepared: Prepared, budget: Mapping[str, Any]) -> Prepared:
    return replace(prepared, config=config_from_manifest({**resolved(prepared.config), "budget": budget}))


def report_left(prepared: Prepared, met: Set[CellKey]) -> int:
    """The cells that the report may take; without those of the seed that a former one has filled."""
    return report_cells(prepared) - sum(who == prepared.seed.id and repeat == 0 for who, _, _, repeat in met)


def check_room(prepared: Prepared, journal: Journal) -> None:
    """The limit on rollouts has to hold all that is spent, and a report on another best candidate. BudgetError where it does not."""
    limit, before = prepared.config.budget.rollouts, journal.written_off()
    searched = [row for each in journal.candidates() for row in journal.cells(each.id) if row.split not in (REPORTED, UNSEALED)]
    spent, report = len(searched) + before.rollouts, report_left(prepared, before.cells)
    if limit is not None and limit < spent + report:
        raise BudgetError(
            f"budget.rollouts: {limit} leaves no room to go on: {spent} are spent, and a report on another prompt may take {report}. Raise "
            f"it to {spent + report} at least, or leave the budget as it was."
        )
