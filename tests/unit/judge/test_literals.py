"""Literals and comments of source text."""

import pytest

from sandbox_service.judge.literals import MAX_CODE_CHARS, lex


@pytest.mark.parametrize(
    ("source", "literals"),
    [
        ("x = 'a', \"b\", 12, 1.5", {"a", "b", "12", "1.5"}),
        ("'''a\n'b''' \"\"\"c\"d\"\"\"", {"a\n'b", 'c"d'}),
        (r"'a\'b\n\t\\'", {"a'b\n\t\\"}),
        (r"'\d'", {r"\d"}),
        ("x1 = y.2", set()),
        ("'open", {"open"}),
        ("'''open\nmore", {"open\nmore"}),
        ("'one\n'two'", {"one", "two"}),
        ("`a\nb`", {"a\nb"}),
        ("``", {""}),
        ("'#' # 'no'", {"#"}),
    ],
)
def test_literals_are_found(source, literals):
    assert lex(source, language="python").literals == literals


@pytest.mark.parametrize(
    ("source", "language", "code"),
    [
        ("a # b\nc", "python", "a  \nc"),
        ("a // b\nc", "cpp", "a  \nc"),
        ("a /* b\n */ c", "java", "a   c"),
        ("a /* b", "c", "a  "),
        ("a '# b' c", "bash", "a '# b' c"),
        ("#include <x>", "c", "#include <x>"),
    ],
)
def test_comments_become_a_blank(source, language, code):
    assert lex(source, language=language).code == code


@pytest.mark.parametrize("piece", ["/*", '"""', "'", "`", "\\", "'''\\", "9."])
def test_hostile_source_is_passed_over_once(piece):
    lexed = lex(piece * MAX_CODE_CHARS, language="c")

    assert len(lexed.code) <= MAX_CODE_CHARS
