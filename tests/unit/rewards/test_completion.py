"""Code out of a model's whole text."""

import pytest

from sandbox_service.rewards.completion import extract_code
from sandbox_service.schema.completion import ExtractionRule

NAMES = ["python", "py"]
TWO = "```python\nfirst = 1\n```\nBetter:\n```py\nb = 2\n```\n"


def code_of(text, rule=ExtractionRule.LAST):
    return extract_code(text, language_names=NAMES, rule=rule).code


@pytest.mark.parametrize(
    ("rule", "code"),
    [("last", "b = 2\n"), ("first", "first = 1\n"), ("longest", "first = 1\n")],
)
def test_rule_chooses_among_blocks(rule, code):
    extraction = extract_code(TWO, language_names=NAMES, rule=ExtractionRule(rule))

    assert extraction.code == code
    assert extraction.rule == f"{rule} of 2 blocks tagged with the language"


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("```python\na\n```\nOutput:\n```\n7\n```", "a\n"),
        ("```cpp\nx\n```\n```\na\n```", "a\n"),
        ("```cpp\nx\n```\n```java\ny\n```", "y\n"),
        ("```PYTHON\na\n```", "a\n"),
        ("```{.python}\na\n```", "a\n"),
        ("```{python}\na\n```", "a\n"),
        ("``` python title='x'\na\n```", "a\n"),
        ("~~~python\na\n~~~", "a\n"),
        ("````python\na\n```\nb\n````", "a\n```\nb\n"),
        ("```python\na\n~~~\nb\n```", "a\n~~~\nb\n"),
        ("```python\r\na\r\nb\r\n```\r\n", "a\nb\n"),
        ("1. Do:\n   ```python\n   if a:\n       b\n   ```\n", "if a:\n    b\n"),
        ("```python\n\n```", "\n"),
        ("```python\n```", ""),
        ("```print(1)```", "print(1)\n"),
        ("```python\na", "a\n"),
        ("```python\na\n```python\nb\n```", "b\n"),
        ("```python\nprint('```')\n```", "print('```')\n"),
        ("```python\na\n``` \n", "a\n"),
        ("```python\na\n```!?\nb\n```", "a\n```!?\nb\n"),
    ],
)
def test_block_is_found_however_it_is_fenced(text, code):
    assert code_of(text) == code


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("a = 1", "whole text"),
        ("", "no text"),
        ("  \n", "no text"),
        ("```\na\n```", "last of 1 blocks without a tag"),
        ("```go\na\n```", "last of 1 blocks of other languages"),
        ("```python\na", "last of 1 blocks tagged with the language, unclosed"),
        ("```python\na\n```py\nb\n```", "last of 2 blocks tagged with the language"),
    ],
)
def test_rule_is_told(text, rule):
    assert extract_code(text, language_names=NAMES).rule == rule


def test_text_without_fences_is_the_code_as_it_stands():
    assert code_of("\n\n  a = 1\nb\n\n") == "  a = 1\nb"


def test_block_that_another_one_interrupts_is_unclosed():
    extraction = extract_code(
        "```python\na\n```python\nb\n```", language_names=NAMES, rule=ExtractionRule.FIRST
    )

    assert (extraction.code, extraction.rule.endswith(", unclosed")) == ("a\n", True)


def test_language_rule_takes_tagged_blocks_only():
    rule = ExtractionRule.LANGUAGE

    assert code_of("```python\na\n```\n```py\nb\n```\n```\nc\n```", rule) == "b\n"
    assert code_of("```\nc\n```", rule) == ""
    assert extract_code("```\nc\n```", language_names=NAMES, rule=rule).rule == (
        "no block tagged py"
    )
    assert extract_code("```\nc\n```", language_names=[], rule=rule).rule == "no block tagged "


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("<think>\n```python\nbad\n```\n</think>\n```python\ngood\n```", "good\n"),
        ("```python\nbad\n```\n</think>\n```python\ngood\n```", "good\n"),
        ("<think>\n```python\nbad\n```\n", ""),
        ("<thinking>a\n</thinking>\n```python\ngood\n```", "good\n"),
        ("```python\ngood\n```\n<think>\n```python\nbad\n```\n</think>\n", "good\n"),
        ("<think>\n<think>\n```python\nbad\n```\n</think>\n```python\ngood\n```", "good\n"),
        ("```python\nprint('<think> and </think> here')\n```",
         "print('<think> and </think> here')\n"),
        ("well <think>\nbad\n</think> code", "well  code"),
        ("a\n</think>\nb\n</think>\nc", "c"),
        ("<think>x\n</think>\ny\n</think>\nz", "z"),
        ("a </think>\nb", "b"),
    ],
)  # fmt: skip
def test_thoughts_are_dropped(text, code):
    assert code_of(text) == code


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("```python\nbad\n```\n<answer>\n```python\ngood\n```\n</answer>", "good\n"),
        ("<answer>one</answer>\n<answer>two</answer>\nthree", "two"),
        ("<answer>\n```python\ngood\n```", "good\n"),
        ("print('<answer>x</answer>')", "print('<answer>x</answer>')"),
    ],
)
def test_answer_section_is_all_that_counts(text, code):
    assert code_of(text) == code


def test_several_files_accompany_the_main_one():
    text = (
        "```python main.py\nimport a\n```\n"
        "```python:pkg/a.py\nx = 0\n```\n"
        "```python\n# file: pkg/b.py\ny = 1\n```\n"
        "```python filename='pkg/a.py'\nx = 1\n```\n"
        "```\nunnamed\n```\n"
    )

    extraction = extract_code(text, language_names=NAMES)

    assert extraction.code == "import a\n"
    assert extraction.files == {"pkg/a.py": "x = 1\n", "pkg/b.py": "# file: pkg/b.py\ny = 1\n"}


def test_first_and_longest_do_not_look_at_names():
    text = "```python a.py\nlong = 1\n```\n```python main.py\nb\n```\n"

    assert code_of(text, ExtractionRule.FIRST) == "long = 1\n"
    assert code_of(text, ExtractionRule.LONGEST) == "long = 1\n"


def test_last_of_several_mains_is_taken():
    text = "```py src/main.py\na\n```\n```py src/solution.py\nb\n```\n```py x.py\nc\n```\n"

    assert code_of(text) == "b\n"


def test_block_without_a_name_is_alone():
    text = "```python a.py\na\n```\n```python\nb\n```\n"

    assert extract_code(text, language_names=NAMES).files == {}


@pytest.mark.parametrize("path", ["../a.py", "/etc/a.py", "a/../b.py"])
def test_path_that_leads_out_is_no_name(path):
    text = f"```python {path}\na\n```\n```python main.py\nb\n```\n"

    assert extract_code(text, language_names=NAMES).files == {}


def test_tag_that_is_a_file_name_is_no_language():
    extraction = extract_code("```main.py\na\n```", language_names=NAMES)

    assert (extraction.code, extraction.rule) == ("a\n", "last of 1 blocks without a tag")


@pytest.mark.parametrize(
    "piece", ["</think>\n", "<think>\n", "```python\n", "`", "<answer>", "a.", "{ :\n", "~~~ x\n"]
)
def test_hostile_text_is_passed_over_once(piece):
    extraction = extract_code(piece * 50_000, language_names=NAMES)

    assert len(extraction.code) <= len(piece) * 50_000 + 1
