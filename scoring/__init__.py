"""What an answer is worth.

The names here are loaded when they are first used, so that `import scoring` stays fast.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from scoring.agreement import Agreement as Agreement
    from scoring.agreement import self_agreement as self_agreement
    from scoring.answer import AnswerScore as AnswerScore
    from scoring.answer import is_not_found as is_not_found
    from scoring.answer import score_answer as score_answer
    from scoring.averages import Average as Average
    from scoring.averages import average as average
    from scoring.averages import overall_average as overall_average
    from scoring.failed_fields import explain_failure as explain_failure
    from scoring.failed_fields import extract_failed_fields as extract_failed_fields
    from scoring.improvement import Difference as Difference
    from scoring.improvement import as_family as as_family
    from scoring.improvement import compute_improvement as compute_improvement
    from scoring.improvement import overall_difference as overall_difference
    from scoring.improvement import paired_difference as paired_difference
    from scoring.improvement import verdict as verdict
    from scoring.matching import Matching as Matching
    from scoring.objective import ObjectiveError as ObjectiveError
    from scoring.objective import ObjectiveKey as ObjectiveKey
    from scoring.objective import ObjectiveScores as ObjectiveScores
    from scoring.objective import Status as Status
    from scoring.objective_config import MetricObjectiveConfig as MetricObjectiveConfig
    from scoring.objective_config import ObjectiveConfig as ObjectiveConfig
    from scoring.objective_config import TraitSelectionMode as TraitSelectionMode
    from scoring.objectives import compute_objective_scores as compute_objective_scores
    from scoring.pareto import objective_winners as objective_winners
    from scoring.pareto import pareto_front as pareto_front
    from scoring.reductions import ObjectiveMeans as ObjectiveMeans
    from scoring.reductions import benchmark_score as benchmark_score
    from scoring.reductions import compute_multi_model_score as compute_multi_model_score
    from scoring.reductions import compute_single_score as compute_single_score
    from scoring.reductions import compute_weighted_score as compute_weighted_score
    from scoring.reductions import model_scores as model_scores
    from scoring.reductions import objective_means as objective_means
    from scoring.reductions import overall_score as overall_score
    from scoring.reductions import result_score as result_score
    from scoring.result import Failure as Failure
    from scoring.result import ModelIdentity as ModelIdentity
    from scoring.result import VerificationResult as VerificationResult
    from scoring.result import VerificationResultMetadata as VerificationResultMetadata
    from scoring.result import VerificationResultRubric as VerificationResultRubric
    from scoring.result import VerificationResultTemplate as VerificationResultTemplate
    from scoring.scales import trait_directionalities as trait_directionalities
    from scoring.scales import trait_max_scores as trait_max_scores
    from scoring.scales import trait_min_scores as trait_min_scores
    from scoring.score import Score as Score
    from scoring.score import ScoreError as ScoreError
    from scoring.signflip import Chance as Chance
    from scoring.signflip import holm as holm
    from scoring.signflip import sign_flip as sign_flip
    from scoring.verify import FieldsResult as FieldsResult
    from scoring.verify import verify_fields as verify_fields

_HOMES = {
    "agreement": ("Agreement", "self_agreement"),
    "answer": ("AnswerScore", "is_not_found", "score_answer"),
    "averages": ("Average", "average", "overall_average"),
    "failed_fields": ("explain_failure", "extract_failed_fields"),
    "improvement": ("Difference", "as_family", "compute_improvement", "overall_difference", "paired_difference", "verdict"),
    "matching": ("Matching",),
    "objective": ("ObjectiveError", "ObjectiveKey", "ObjectiveScores", "Status"),
    "objective_config": ("MetricObjectiveConfig", "ObjectiveConfig", "TraitSelectionMode"),
    "objectives": ("compute_objective_scores",),
    "pareto": ("objective_winners", "pareto_front"),
    "reductions": (
        "ObjectiveMeans",
        "benchmark_score",
        "compute_multi_model_score",
        "compute_single_score",
        "compute_weighted_score",
        "model_scores",
        "objective_means",
        "overall_score",
        "result_score",
    ),
    "result": (
        "Failure",
        "ModelIdentity",
        "VerificationResult",
        "VerificationResultMetadata",
        "VerificationResultRubric",
        "VerificationResultTemplate",
    ),
    "scales": ("trait_directionalities", "trait_max_scores", "trait_min_scores"),
    "score": ("Score", "ScoreError"),
    "signflip": ("Chance", "holm", "sign_flip"),
    "verify": ("FieldsResult", "verify_fields"),
}
_HOME = {name: module for module, names in _HOMES.items() for name in names}


if not TYPE_CHECKING:  # to a type checker it would say that every name exists

    def __getattr__(name):
        if name not in _HOME:
            raise AttributeError(f"module 'scoring' has no attribute {name!r}")
        return getattr(import_module(f"scoring.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    return [*globals(), *_HOME]
