"""The run directory: one writer, one run, and files that are whole."""

import copy
import json
import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from optimizer.config import Config
from optimizer.configfile import resolved
from optimizer.errors import JournalError, LockedError
from optimizer.rundir import (
    BEST,
    LOCK,
    MANIFEST,
    different,
    holds_another_run,
    locked,
    manifest,
    read_json,
    read_manifest,
    write_best,
    write_json,
    write_manifest,
)

CONFIG = resolved(
    Config.model_validate(
        {
            "version": 1,
            "name": "t",
            "seed": {"instructions": "Say yes.", "timeout": "Answer soon."},
            "adapter": {
                "user": "{instructions} {timeout} {text}",
                "answer": {"json_schema": {"properties": {"attempts": {"type": "string"}}}},
            },
            "models": [{"id": "small", "model": "local/smollm2", "params": {"timeout": 3, "top_p": 0.9}}],
            "data": {"path": "rows.jsonl"},
            "scoring": {"scorers": ["exact", {"fields": {"concurrency": 1}}]},
            "proposers": {"reflection": {"model": "local/smollm2"}, "demos": {}},
            "budget": {"rollouts": 100},
        }
    )
)
HASHES = {"all": "0", "train": "1", "val": "2"}
NEW = manifest(CONFIG, Path("folder"), HASHES)


def settle(out: Path, new: Mapping[str, Any], *, allow_changes: bool) -> bool:
    """As a run does it."""
    another = holds_another_run(out, new, allow_changes=allow_changes)
    write_manifest(out, new)
    return another


def changed(path: str, value: Any) -> dict[str, Any]:
    """The manifest with another value at a path of its config."""
    new: dict[str, Any] = copy.deepcopy(NEW)
    inner: Any = new["config"]
    *keys, last = path.split(".")
    for key in keys:
        inner = inner[int(key) if isinstance(inner, list) else key]
    inner[last] = value
    return new


# --- the lock ---------------------------------------------------------------------------------------------------------


def test_a_second_writer_is_refused_until_the_first_is_done(tmp_path: Path) -> None:
    out = tmp_path / "runs" / "new"
    with locked(out):
        assert out.is_dir()
        with pytest.raises(LockedError, match="in use by another run"), locked(out):
            pytest.fail("two writers")
    with locked(out):
        pass


def test_a_directory_whose_first_manifest_was_never_finished_is_still_ours(tmp_path: Path) -> None:
    """A kill at that moment must not lock anybody out."""
    (tmp_path / "manifest.json.new").write_text('{"config"')
    with locked(tmp_path):
        pass


def test_the_lock_is_given_back_after_an_error(tmp_path: Path) -> None:
    with pytest.raises(KeyError), locked(tmp_path):
        raise KeyError
    with locked(tmp_path):
        pass


HOLDER = """
import sys, time
from pathlib import Path
from optimizer.rundir import locked
with locked(Path(sys.argv[1])):
    print("held", flush=True)
    time.sleep(60)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGKILL")
def test_the_lock_holds_between_processes_and_dies_with_its_holder(tmp_path: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", HOLDER, str(tmp_path)], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None and process.stdout.readline() == "held\n"
        with pytest.raises(LockedError), locked(tmp_path):
            pytest.fail("two writers")
        process.send_signal(signal.SIGKILL)
    with locked(tmp_path):
        pass


def test_a_file_is_no_directory(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("mine")
    with pytest.raises(JournalError, match=r"is a file; give a directory"), locked(file):
        pytest.fail("a file")
    with pytest.raises(JournalError, match=r"cannot be written \(Not a directory\)"), locked(file / "below"):
        pytest.fail("below a file")
    assert file.read_text() == "mine"


def test_a_directory_that_cannot_be_made_or_locked_is_named(tmp_path: Path) -> None:
    with pytest.raises(JournalError, match=r"cannot be written \(File name too long\).*--out"), locked(tmp_path / ("x" * 300)):
        pytest.fail("no directory")
    (tmp_path / LOCK).mkdir()
    with pytest.raises(JournalError, match="cannot be written"), locked(tmp_path):
        pytest.fail("no lock")


@pytest.mark.skipif(sys.platform == "win32" or os.geteuid() == 0, reason="root may write everywhere")
def test_a_read_only_directory_is_named(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    try:
        with pytest.raises(JournalError, match="cannot be written"), locked(tmp_path / "run"):
            pytest.fail("no directory")
        with pytest.raises(JournalError, match="cannot be written"), locked(tmp_path):
            pytest.fail("no lock")
    finally:
        tmp_path.chmod(0o700)


# --- the manifest -----------------------------------------------------------------------------------------------------


def test_a_manifest_tells_what_the_run_was_made_from(tmp_path: Path) -> None:
    assert settle(tmp_path, NEW, allow_changes=False) is False
    read = read_manifest(tmp_path)
    assert read == NEW
    assert read["config"] == CONFIG and read["folder"] == "folder" and read["data"] == HASHES
    assert set(read["versions"]) >= {"promptfront", "litellm"}


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("name", "other"),
        ("concurrency", 1),
        ("budget.rollouts", 200),
        ("budget.minutes", 5.0),
        ("failures.max_share", 0.5),
        ("models.0.concurrency", 4),
        ("models.0.timeout", 10.0),
        ("models.0.attempts", 1),
        ("models.0.api_key_env", "ANOTHER_KEY"),
        ("proposers.reflection.timeout", 10.0),
    ],
)
def test_how_far_and_how_fast_a_run_goes_and_where_its_keys_are_may_change(tmp_path: Path, path: str, value: object) -> None:
    settle(tmp_path, NEW, allow_changes=False)
    new = changed(path, value)
    assert settle(tmp_path, new, allow_changes=False) is False
    assert read_manifest(tmp_path) == new


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("random_seed", 1),
        ("in_flight", 8),
        ("seed.instructions", "Say no."),
        ("seed.timeout", "Take your time."),
        ("models.0.temperature", 1.0),
        ("models.0.params.timeout", 4),
        ("models.0.price", {"input": 1.0, "output": 1.0}),
        ("adapter.answer.json_schema.properties.attempts", {"type": "number"}),
        ("scoring.scorers.1.fields.concurrency", 2),
        ("proposers.demos.max", 5),
        ("proposers.demos", None),
    ],
)
def test_all_else_makes_it_another_run(tmp_path: Path, path: str, value: object) -> None:
    settle(tmp_path, NEW, allow_changes=False)
    new = changed(path, value)
    with pytest.raises(JournalError, match=r"holds a run with another config \(what differs: " + path.replace(".", r"\.")):
        settle(tmp_path, new, allow_changes=False)
    assert read_manifest(tmp_path) == NEW, "refusing changes nothing"
    assert settle(tmp_path, new, allow_changes=True) is True
    assert read_manifest(tmp_path) == new
    assert settle(tmp_path, new, allow_changes=True) is False


@pytest.mark.parametrize("data", [{**HASHES, "val": "9"}, {"all": "0", "train": "1"}, {**HASHES, "more": "3"}])
def test_other_data_make_it_another_run(data: dict[str, str]) -> None:
    assert different(NEW, manifest(CONFIG, Path("folder"), data)) == [f"the {'more' if 'more' in data else 'val'}"]


def test_a_moved_folder_and_new_versions_are_the_same_run() -> None:
    assert different(NEW, {**NEW, "folder": "elsewhere", "versions": {}}) == []


@pytest.mark.parametrize("missing", ["config", "folder", "data"])
def test_a_manifest_that_is_none_is_refused(tmp_path: Path, missing: str) -> None:
    write_json(tmp_path / MANIFEST, {name: value for name, value in NEW.items() if name != missing})
    for way in (lambda: read_manifest(tmp_path), lambda: settle(tmp_path, NEW, allow_changes=True)):
        with pytest.raises(JournalError, match=rf"manifest\.json has no '{missing}'"):
            way()


def test_a_directory_of_no_run_is_named(tmp_path: Path) -> None:
    with pytest.raises(JournalError, match=r"is no run directory: it has no manifest\.json"):
        read_manifest(tmp_path)


# --- files ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "match"),
    [
        (b"{", "cannot be read"),
        (b"\xff\xfe", "cannot be read"),
        (b"[]", "holds no JSON object"),
        (b"", "cannot be read"),
        (None, "cannot be read"),
    ],
    ids=["broken", "not text", "a list", "empty", "a folder"],
)
def test_a_file_that_cannot_be_read_is_named(tmp_path: Path, content: bytes | None, match: str) -> None:
    path = tmp_path / MANIFEST
    path.mkdir() if content is None else path.write_bytes(content)
    with pytest.raises(JournalError, match=match) as caught:
        read_json(path)
    assert str(path) in str(caught.value) and "--out" in str(caught.value)


def test_json_is_written_whole_readable_and_without_leftovers(tmp_path: Path) -> None:
    path = tmp_path / "result.json"
    write_json(path, {"a": 1})
    write_json(path, {"text": "größer 🦜", "n": 1 / 3})
    assert read_json(path) == {"text": "größer 🦜", "n": 1 / 3}
    assert "größer" in path.read_text(encoding="utf-8")
    assert [p.name for p in tmp_path.iterdir()] == ["result.json"]


def test_what_json_has_no_word_for_is_never_written(tmp_path: Path) -> None:
    path = tmp_path / "result.json"
    write_json(path, {"a": 1})
    with pytest.raises(ValueError, match="JSON"):
        write_json(path, {"a": float("nan")})
    assert read_json(path) == {"a": 1}


def test_a_file_that_cannot_be_written_is_named_and_the_old_one_stays(tmp_path: Path) -> None:
    path = tmp_path / "result.json"
    write_json(path, {"a": 1})
    (tmp_path / "result.json.new").mkdir()
    with pytest.raises(JournalError, match=r"result\.json cannot be written \(.*what was paid for is kept"):
        write_json(path, {"a": 2})
    assert read_json(path) == {"a": 1}
    (tmp_path / BEST).write_text("in the way")
    with pytest.raises(JournalError, match="best cannot be written"):
        write_best(tmp_path, {"a": "b"}, {})


def test_best_holds_each_text_as_it_is_and_nothing_of_an_earlier_one(tmp_path: Path) -> None:
    write_best(tmp_path, {"old": "gone", "kept": "first"}, {})
    texts = {"kept": "zwei\r\nZeilen\n\n", "new.v2": "", "übung": " 汉字\t"}
    write_best(tmp_path, texts, {})
    files = {path.name: path.read_bytes().decode() for path in (tmp_path / BEST).iterdir()}
    assert files == {f"{name}.txt": text for name, text in texts.items()}


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.sets(st.text("ab./\\:%*\n\0 ", max_size=5) | st.sampled_from(["..", "../x", "/etc/x", "a%2Fb", "c:\\x", "übung"])))
def test_a_component_may_have_any_name(tmp_path: Path, names: set[str]) -> None:
    """No file leads out of the folder, and no two components share one."""
    write_best(tmp_path, dict.fromkeys(names, "text"), {})
    assert len(list((tmp_path / BEST).iterdir())) == len(names)
    assert [path.name for path in tmp_path.iterdir()] == [BEST]


def test_models_may_have_a_best_of_their_own(tmp_path: Path) -> None:
    write_best(tmp_path, {"a": "all"}, {"small": {"a": "one"}, "..": {"a": "up", "b": "too"}})
    assert {str(path.relative_to(tmp_path / BEST)): path.read_text() for path in (tmp_path / BEST).rglob("*.txt")} == {
        "a.txt": "all",
        "small/a.txt": "one",
        "%2E./a.txt": "up",
        "%2E./b.txt": "too",
    }
    assert [path.name for path in tmp_path.iterdir()] == [BEST]
    write_best(tmp_path, {"a": "all"}, {"small": {"a": "two"}})
    assert [path.read_text() for path in sorted((tmp_path / BEST).rglob("*.txt"))] == ["all", "two"]


def test_a_model_may_be_called_like_a_components_file(tmp_path: Path) -> None:
    write_best(tmp_path, {"a": "all", "a.txt": "odd"}, {"a.txt": {"a": "one"}, "a.txt.txt": {"a": "two"}})
    assert {str(path.relative_to(tmp_path / BEST)): path.read_text() for path in (tmp_path / BEST).rglob("*.txt") if path.is_file()} == {
        "a.txt": "all",
        "a%2Etxt.txt": "odd",
        "a%2Etxt/a.txt": "one",
        "a.txt%2Etxt/a.txt": "two",
    }


def test_odd_names_stay_readable(tmp_path: Path) -> None:
    write_best(tmp_path, {"a/b": "1", "a%2Fb": "2", "tool: search": "3"}, {})
    assert sorted(path.name for path in (tmp_path / BEST).iterdir()) == ["a%252Fb.txt", "a%2Fb.txt", "tool%3A search.txt"]
    assert json.dumps(sorted(path.read_text() for path in (tmp_path / BEST).iterdir())) == '["1", "2", "3"]'
