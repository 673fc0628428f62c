"""Data sets: every format gives the same examples, and every mistake is named with its file and line."""

import csv
import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adapters.dataset import DatasetError, data_hash, dataset_of, input_names, load_dataset
from adapters.example import Example

ROWS: list[dict[str, Any]] = [
    {"id": "a", "ticket": "The invoice, twice: {x}", "expected": "billing", "group": "g1"},
    {"id": "b", "ticket": "Zwei\nZeilen “ü”", "expected": "technical", "group": "g1"},
]


def write(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_bytes(text.encode())
    return path


def failure(path: Path | str, **columns: Any) -> str:
    with pytest.raises(DatasetError) as caught:
        load_dataset(path, **columns)
    return str(caught.value)


def dump_csv(folder: Path, rows: list[dict[str, Any]]) -> Path:
    path = folder / "rows.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return path


def dump_all(folder: Path, rows: list[dict[str, Any]]) -> list[Path]:
    lines = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    array = json.dumps(rows, ensure_ascii=False, indent=1)
    return [
        write(folder, "rows.jsonl", lines),
        write(folder, "rows.NDJSON", "\ufeff" + lines.replace("\n", "\r\n\r\n")),
        write(folder, "rows.json", array),
        write(folder, "wrapped.json", json.dumps({"about": "tickets", "examples": rows})),
        write(folder, "rows.yaml", array),
        write(folder, "wrapped.yml", json.dumps({"examples": rows}, ensure_ascii=False)),
        dump_csv(folder, rows),
    ]


def test_every_format_gives_the_same_examples(tmp_path: Path) -> None:
    expected = [
        Example("a", {"ticket": "The invoice, twice: {x}"}, "billing", {}, "g1"),
        Example("b", {"ticket": "Zwei\nZeilen “ü”"}, "technical", {}, "g1"),
    ]
    for path in dump_all(tmp_path, ROWS):
        assert [row.example for row in load_dataset(path)] == expected, path.name
        assert all(row.split is None for row in load_dataset(path))


texts = st.text(st.characters(exclude_categories=["Cs", "Cc", "Cn"]), min_size=1)
"""No control characters and no non-characters, which YAML has no place for."""


@settings(max_examples=40)
@given(
    st.lists(
        st.fixed_dictionaries({"q": texts, "x": texts, "expected": texts, "metadata": st.dictionaries(texts, texts)}),
        min_size=1,
        max_size=5,
    )
)
def test_json_lines_and_yaml_keep_every_character(tmp_path_factory: pytest.TempPathFactory, rows: list[dict[str, Any]]) -> None:
    folder = tmp_path_factory.mktemp("rows")
    for path in dump_all(folder, rows)[:-1]:
        loaded = [row.example for row in load_dataset(path)]
        assert [(e.inputs, e.expected, e.metadata) for e in loaded] == [
            ({"q": row["q"], "x": row["x"]}, row["expected"], row["metadata"]) for row in rows
        ]


def test_parquet(tmp_path: Path) -> None:
    arrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "rows.parquet"
    rows = [{"inputs": {"q": "x"}, "expected": [1, 2], "split": "train"}, {"inputs": {"q": "y"}, "expected": None, "split": "val"}]
    parquet.write_table(arrow.Table.from_pylist(rows), path)
    first, second = load_dataset(path)
    assert (first.example.inputs, first.example.expected, first.split) == ({"q": "x"}, [1, 2], "train")
    assert (second.example.expected, second.place) == (None, f"{path}, row 2")
    parquet.write_table(arrow.table({"q": [1.0, float("nan")]}), path)
    assert failure(path) == f"{path}, row 2: q: nan is not a number that JSON has; write null, or text"
    path.write_bytes(b"no")
    assert failure(path).startswith(f"{path}: not a Parquet file that can be read: ")


def test_parquet_without_its_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)
    path = write(tmp_path, "rows.parquet", "")
    assert failure(path) == f"{path}: Parquet needs more packages: pip install 'promptfront[datasets]'"


def test_nested_rows_keep_their_parts_apart(tmp_path: Path) -> None:
    row = {"id": 7, "inputs": {"q": 1, "expected": 2}, "expected": {"k": []}, "metadata": {"source": "x"}, "split": "dev", "group": 3}
    (loaded,) = load_dataset(write(tmp_path, "rows.jsonl", json.dumps(row)))
    assert loaded.example == Example("7", {"q": 1, "expected": 2}, {"k": []}, {"source": "x"}, "3")
    assert (loaded.split, loaded.place) == ("dev", f"{tmp_path / 'rows.jsonl'}:1")
    assert loaded.example.spoken == f"{loaded.example.id!r} ({loaded.place})"


def test_rows_that_are_there_already_are_read_as_those_of_a_file(tmp_path: Path) -> None:
    rows = [{"q": 1, "answer": "a", "id": 3, "group": "g", "split": "val"}, {"q": 2, "answer": None, "metadata": {"m": [1]}}]
    path = write(tmp_path, "rows.jsonl", "".join(json.dumps(row) + "\n" for row in rows))
    read, there = load_dataset(path, expected="answer"), dataset_of(rows, expected="answer")
    assert [(row.example, row.split) for row in there] == [(row.example, row.split) for row in read]
    assert [row.place for row in there] == ["row 1", "row 2"]
    for wrong, told in (
        ([], "the data has no rows; write at least one example for train and one for val"),
        ([5], "row 1: a row is an object of names and values, not int"),
        ([{"q": 1}, {"q": {1}}], "row 2: q: a value of type set has no form in JSON; write it as text"),
    ):
        with pytest.raises(DatasetError, match=re.escape(told)):
            dataset_of(wrong)


def test_columns_can_be_named(tmp_path: Path) -> None:
    row = {"number": "n1", "document": "d", "question": "q", "answer": "a", "id": "row 1", "note": "n", "metadata": {"m": 1}}
    path = write(tmp_path, "rows.json", json.dumps([row]))
    (loaded,) = load_dataset(path, id="number", expected="answer", group="document", inputs=["document", "question"])
    assert loaded.example == Example("n1", {"document": "d", "question": "q"}, "a", {"id": "row 1", "note": "n", "m": 1}, "d")


def test_named_columns_have_to_be_there(tmp_path: Path) -> None:
    path = write(tmp_path, "rows.jsonl", '{"question": "q", "answer": "a", "note": "n"}\n')
    assert failure(path, expected="anwser") == f"{path}: no row has the column 'anwser'; did you mean 'answer'?"
    assert failure(path, inputs=["qestion"]) == f"{path}:1: the row has no input 'qestion'; did you mean 'question'?"
    assert "cannot be an input too" in failure(path, expected="answer", inputs=["answer"])
    path.write_text('{"question": "q", "note": 1, "metadata": {"note": 2}}')
    assert "'note' is a column and a key of `metadata`" in failure(path, inputs=["question"])


def test_an_empty_cell_of_csv_is_no_answer_but_an_empty_input(tmp_path: Path) -> None:
    path = write(tmp_path, "rows.csv", 'q,expected,id,group,split\n"",,,,\nx,"",,,train\n'.replace('"",,,,', '"",,,,val'))
    first, second = (row.example for row in load_dataset(path))
    assert (first.inputs, first.expected, first.group) == ({"q": ""}, None, None)
    assert second.expected is None
    path = write(tmp_path, "rows.jsonl", '{"q": "x", "expected": "", "group": "", "id": "", "split": ""}')
    (row,) = load_dataset(path)
    assert (row.example.expected, row.example.group, row.split) == ("", None, None)
    assert row.example.id == row.example.digest


def test_yaml_is_read_as_json_would_read_it(tmp_path: Path) -> None:
    text = """
- {date: 2021-03-04, time: 12:30:45, zip: 007, plus: +49, oct: 0o17, inf: .inf, octal: 010, word: on, expected: no}
- {int: -12, float: 1.5e3, yes: true, no: FALSE, none: ~, null: null, empty: , quoted: "1", tagged: !!str 1, expected: yes}
"""
    first, second = (row.example for row in load_dataset(write(tmp_path, "rows.yaml", text.replace("null: null, ", ""))))
    assert first.inputs == {
        "date": "2021-03-04",
        "time": "12:30:45",
        "zip": "007",
        "plus": "+49",
        "oct": "0o17",
        "inf": ".inf",
        "octal": "010",
        "word": "on",
    }
    assert second.inputs == {
        "int": -12,
        "float": 1500.0,
        "yes": True,
        "no": False,
        "none": None,
        "empty": None,
        "quoted": "1",
        "tagged": "1",
    }
    assert (first.expected, second.expected) == ("no", "yes")


def test_yaml_aliases_and_merges(tmp_path: Path) -> None:
    text = "- &one {document: &doc long text, q: a}\n- {document: *doc, q: b}\n- {<<: *one, q: c}\n- {<<: *one, q: d}\n"
    loaded = [row.example.inputs for row in load_dataset(write(tmp_path, "rows.yaml", text))]
    assert loaded == [{"document": "long text", "q": letter} for letter in "abcd"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("- {q: a}\n- {q: b\n", ":3:1: not YAML that can be read: did not find expected ',' or '}'"),
        ("- q: a\n  q: b\n", ":1:3: not YAML that can be read: the key 'q' is given twice in one mapping"),
        ("- q: !!python/object:os.system {}\n", "has no form in JSON"),
        ("- q: !!int x\n", ":1:6: not YAML that can be read: 'x' is not of the type tag:yaml.org,2002:int"),
        ("- q: !!timestamp x\n", "the type tag:yaml.org,2002:timestamp has no form in JSON"),
        (f"- q: {'9' * 5000}\n", ":1:6: not YAML that can be read: Exceeds the limit"),
        ("- {? [a] : b}\n", "unhashable key"),
        ("- &a [*a]\n", "recursive"),
        ("- &a0 {q: a}\n" + "".join(f"- &a{n} [*a{n - 1}, *a{n - 1}]\n" for n in range(1, 60)), ": its aliases stand for more than"),
        ("- q: a\n---\n- q: b\n", ":2:1: not YAML that can be read: expected a single document in the stream but found another document"),
        ("- q: \x07\n", ": not YAML that can be read: "),
        ("- {q: " + "[" * 3000 + "]" * 3000 + "}", "exceeded maximum nesting depth"),
        ("- {q: " + "[" * 900 + "]" * 900 + "}", ": nested too deeply"),
        ("- {q: " + "[" * 150 + "]" * 150 + "}", ":1: q"),
        ("- q: a\n- text\n", ":2: a row is an object of names and values, not str"),
        ("- q: a\n\n- 1: a\n", ":3: the key 1 is not text; put quotes around it"),
        ("q: a\n", ": expected a list of rows, or a mapping whose key `examples` holds one"),
        ("text", ": expected a list of rows"),
        ("# nothing\n", " has no rows"),
    ],
)
def test_what_is_wrong_in_yaml(tmp_path: Path, text: str, message: str) -> None:
    path = write(tmp_path, "rows.yaml", text)
    found = failure(path)
    assert found.startswith(str(path))
    assert message in found


def test_yaml_without_libyaml(tmp_path: Path) -> None:
    """The slower loader reads the same rows; run in a new process, where nothing was imported yet."""
    import subprocess
    import sys

    text = "- {date: 2021-03-04, expected: no, n: 1, f: 0.5}\n- &a {q: x}\n- {<<: *a, r: y}\n"
    path = write(tmp_path, "rows.yaml", text)
    code = (
        "import sys, yaml; del yaml.CSafeLoader; from adapters.dataset import load_dataset; "
        "print([(dict(row.example.inputs), row.example.expected, row.place[-2:]) for row in load_dataset(sys.argv[1])])"
    )
    shown = subprocess.run([sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=True).stdout
    assert shown.strip() == str([(dict(r.example.inputs), r.example.expected, r.place[-2:]) for r in load_dataset(path)])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"q": 1}\n\n{"q": 1,}\n', ":3:9: not JSON: "),
        ('{"q": NaN}\n', ":1: q: nan is not a number that JSON has; write null, or text"),
        ('{"inputs": {"q": [1, 1e400]}}\n', ":1: inputs.q[1]: inf is not"),
        ('{"q": 1, "q": 2}\n', ":1: the key 'q' is given twice"),
        ("[1]\n", ":1: a row is an object of names and values, not list"),
        ('[\n{"q": 1}\n]\n', "; a file with one JSON array ends in .json"),
        ('{"q": "' + "\\ud800" + '"}\n', ":1: q: the text holds half of a surrogate pair"),
        ('{"inputs": {"q": 1}, "expcted": "a"}\n', ":1: unknown field 'expcted'; did you mean 'expected'?"),
        ('{"inputs": "text"}\n', ":1, inputs: expected an object of names and values"),
        ('{"inputs": {}}\n', ":1: `inputs` is empty"),
        ('{"q": "x", "metadata": "text"}\n', ":1, metadata: expected an object"),
        ('{"expected": "x"}\n', ":1: the row has no inputs; give it a column that is not expected, group, id, metadata or split"),
        ('{"q": "x", "id": {"a": 1}}\n', ':1, id: expected text or a number, not {"a":1}'),
        ('{"q": "x", "group": []}\n', ":1, group: expected text or a number"),
        ('{"q": "x", "id": 1}\n{"q": "y", "id": "1"}\n', ":2: the id '1' is that of "),
        ("\n  \n", " has no rows; write at least one example"),
    ],
)
def test_what_is_wrong_in_json_lines(tmp_path: Path, text: str, message: str) -> None:
    path = write(tmp_path, "rows.jsonl", text)
    found = failure(path)
    assert found.startswith(str(path))
    assert message in found


def test_duplicate_ids_name_both_lines(tmp_path: Path) -> None:
    path = write(tmp_path, "rows.jsonl", '{"q": 1, "id": "x"}\n\n{"q": 2, "id": "x"}\n')
    assert failure(path) == f"{path}:3: the id 'x' is that of {path}:1 already; give each its own, or none"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('[{"q": 1},\n {"q" 2}]', ":2:7: not JSON: "),
        ('{"q": 1}\n{"q": 2}\n', ":2:1: not JSON: Extra data; a file with one object a line ends in .jsonl"),
        ('{"rows": []}', ": expected an array of objects, or an object whose key `examples` holds one"),
        ('[{"q": 1}, 5]', ", element 2: a row is an object of names and values, not int"),
        ('[{"q": 1}, {"q": NaN}]', ": [1].q: nan is not a number"),
        ("", " has no rows"),
        ("[]", " has no rows"),
    ],
)
def test_what_is_wrong_in_json(tmp_path: Path, text: str, message: str) -> None:
    path = write(tmp_path, "rows.json", text)
    found = failure(path)
    assert found.startswith(str(path))
    assert message in found


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('q,expected\n"two\nlines",a\nx\n', ":4: the row has 1 cells and the header 2; put quotes"),
        ("q,expected\na,b,c\n", ":2: the row has 3 cells and the header 2"),
        ("q,,expected\n", ":1: column 2 has no name"),
        ("\nq,expected,q\n", ":2: two columns are called 'q'"),
        ("q;expected\na;b\n", ":1: the columns are not parted by commas"),
        ("q,expected\n,\n", ":2: every cell is empty; delete the line"),
        ('q,expected\n\na,b\n"a"b,c\n', ":4: not CSV: "),
        ('q,expected\na,b\n"a,b\nc,d\ne,f\n', ":3: not CSV: "),
        ("q,expected\n", " has no rows"),
        ("", " has no rows"),
        ("q,inputs\na,b\n", ":2, inputs: expected an object"),
        ("q,id\na,1\nb,1\n", ":3: the id '1' is that of "),
    ],
)
def test_what_is_wrong_in_csv(tmp_path: Path, text: str, message: str) -> None:
    path = write(tmp_path, "rows.csv", text)
    found = failure(path)
    assert found.startswith(str(path))
    assert message in found


def test_csv_lines_are_counted_through_cells_with_line_ends(tmp_path: Path) -> None:
    path = write(tmp_path, "rows.csv", '\ufeffq,expected\r\n"a\r\nb",x\r\n\r\nc,y\r\n')
    first, second = load_dataset(path)
    assert (first.place, first.example.inputs) == (f"{path}:2", {"q": "a\r\nb"})
    assert (second.place, second.example.inputs) == (f"{path}:5", {"q": "c"})


def test_a_long_document_fits_in_a_cell(tmp_path: Path) -> None:
    before = csv.field_size_limit()
    document = "long, " * 100_000
    (row,) = load_dataset(dump_csv(tmp_path, [{"document": document, "expected": "x"}]))
    assert row.example.inputs["document"] == document
    assert csv.field_size_limit() == before


def test_json_lines_end_at_line_feeds_only(tmp_path: Path) -> None:
    (row,) = load_dataset(write(tmp_path, "rows.jsonl", '{"q": "a\u2028b\u0085c"}\n'))
    assert row.example.inputs["q"] == "a\u2028b\u0085c"


def test_encodings(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_bytes('{"q": 1}\n{"q": "café"}\n'.encode("latin-1"))
    assert failure(path) == f"{path}:2: not UTF-8 (byte 0xe9); save it as UTF-8"
    path.write_bytes(b"\xef\xbb\xbf{}\n\n" + b"\xff")
    assert failure(path) == f"{path}:3: not UTF-8 (byte 0xff); save it as UTF-8"
    path.write_bytes('{"q": 1}'.encode("utf-16"))
    assert failure(path) == f"{path} is written in UTF-16; save it as UTF-8"


def test_files_that_are_not_there(tmp_path: Path) -> None:
    write(tmp_path, "tickets.jsonl", "")
    assert failure(tmp_path / "tikets.jsonl") == f"{tmp_path / 'tikets.jsonl'} does not exist; did you mean 'tickets.jsonl'?"
    assert failure(tmp_path / "zzz") == f"{tmp_path / 'zzz'} does not exist"
    assert failure(tmp_path / "no" / "x.csv") == f"{tmp_path / 'no' / 'x.csv'} does not exist, nor does its folder"
    assert failure(tmp_path) == f"{tmp_path} is a folder; name the data file in it"
    path = write(tmp_path, "tickets.xlsx", "")
    assert failure(str(path)).startswith(f"{path}: unknown ending '.xlsx'; a data file ends in .jsonl, ")


def test_a_file_that_cannot_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(tmp_path, "rows.csv", "q\na\n")

    def refuse(self: Path) -> bytes:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "read_bytes", refuse)
    assert failure(path) == f"{path} cannot be read: Permission denied"


def test_rows_without_ids_are_called_by_their_content(tmp_path: Path) -> None:
    lines = ['{"q": 1}', '{"q": 2}', '{"q": 1}', '{"q": 1}', '{"q": 1, "expected": "x"}']
    one = [row.example for row in load_dataset(write(tmp_path, "one.jsonl", "\n".join(lines)))]
    other = [row.example for row in load_dataset(write(tmp_path, "other.jsonl", "\n".join(reversed(lines))))]
    assert [e.id for e in one[2:4]] == [f"{one[0].id}-2", f"{one[0].id}-3"]
    assert len({e.id for e in one}) == 5
    assert sorted((e.id, e.inputs["q"], e.expected or "") for e in one) == sorted((e.id, e.inputs["q"], e.expected or "") for e in other)


def test_a_hash_never_meets_an_id_that_a_row_gave_itself(tmp_path: Path) -> None:
    name = Example("", {"q": 1}).digest
    rows = load_dataset(write(tmp_path, "rows.jsonl", f'{{"q": 1}}\n{{"q": 2, "id": "{name}"}}'))
    assert [row.example.id for row in rows] == [f"{name}-2", name]


def test_the_data_hash_tells_content_apart_and_not_order() -> None:
    one, other = Example("a", {"q": 1}, "x"), Example("b", {"q": 2}, "y")
    assert data_hash([one, other]) == data_hash([other, one])
    changed = [Example("a", {"q": 1}, "z"), Example("c", {"q": 1}, "x"), Example("a", {"q": 1}, "x", group="g"), other]
    assert len({data_hash([one]), *(data_hash([example]) for example in changed)}) == 5
    assert data_hash([Example("a", {"q": 1})]) == "1de12b3ce7fd6f92"


def test_input_names_are_those_of_all_examples() -> None:
    assert input_names([Example("a", {"q": 1}), Example("b", {"r": 1})]) == {"q", "r"}
