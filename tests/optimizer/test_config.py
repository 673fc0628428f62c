"""What the config's models refuse by themselves."""

import pytest
from pydantic import ValidationError

from optimizer.config import BudgetConfig, Endpoint, ProposersConfig, SplitConfig


@pytest.mark.parametrize(
    "params",
    [
        {"extra_headers": {"Authorization": "Bearer x"}},
        {"extra_headers": [{"X-Api-Key": "x"}]},
        {"aws_secret_access_key": "x"},
        {"vertex_credentials": "x"},
        {"apikey": "x"},
        {"azure_ad_token": "x"},
        {"aws_session_token": "x"},
    ],
)
def test_a_key_has_no_place_in_a_config(params: dict[str, object]) -> None:
    with pytest.raises(ValidationError, match="api_key_env"):
        Endpoint(model="openai/m", params=params)


def test_other_parameters_pass() -> None:
    params = {"top_p": 0.5, "extra_body": {"reasoning": {"max_tokens": 5}}, "stop": ["a"], "logprobs": True}
    assert Endpoint(model="openai/m", params=params).params == params


def test_shares_add_up() -> None:
    with pytest.raises(ValidationError, match=r"add up to 0\.9"):
        SplitConfig(train=0.5, val=0.4)


def test_a_run_has_a_limit_and_a_proposer() -> None:
    with pytest.raises(ValidationError, match="at least one limit"):
        BudgetConfig()
    with pytest.raises(ValidationError, match="at least one proposer"):
        ProposersConfig()
