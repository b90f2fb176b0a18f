"""What is read from a program's text, by the patterns of the languages themselves."""

import time

import pytest

from sandbox_service.languages import load_languages
from sandbox_service.naming import Names
from sandbox_service.schema.limits import MIB, Limits
from sandbox_service.settings import Settings

TABLE = load_languages(Settings().images_dir)
MAIN = "public static void main(String[] args) {}"


@pytest.mark.parametrize(
    ("code", "names"),
    [
        (f"public class Sum {{ {MAIN} }}", Names("Sum.java", "Sum")),
        (f"class A {{}}\nclass B {{\n  static class C {{}}\n  {MAIN}\n}}", Names("Main.java", "B")),
        (f"public class A {{}}\nclass B {{ {MAIN} }}", Names("A.java", "B")),
        (f"class A {{ }}public final class B {{ {MAIN} }}", Names("B.java", "B")),
        (f"package a.b;\npublic class C {{ {MAIN} }}", Names("C.java", "a.b.C")),
        (f"// public class X\npublic class Y {{ {MAIN} }}", Names("Y.java", "Y")),
        (f"  public class Z {{\n  {MAIN}\n  }}", Names("Z.java", "Z")),
        ("", Names("Main.java", "Main")),
    ],
)
def test_java_is_named_after_its_public_class_and_starts_where_main_is(code, names):
    assert TABLE.get("java").names_in(code) == names


@pytest.mark.parametrize(
    ("code", "source"),
    [
        ('import fs from "fs";', "main.mjs"),
        ("import * as fs from 'node:fs'\n", "main.mjs"),
        ("export function f() {", "main.mjs"),
        ('const fs = require("fs");\nimport("fs").then(f);', "main.js"),
        ("// import it from 'there'", "main.js"),
    ],
)
def test_javascript_that_imports_is_a_module(code, source):
    assert TABLE.get("javascript").names_in(code).source == source


@pytest.mark.parametrize("language", TABLE.languages, ids=lambda each: each.name)
@pytest.mark.parametrize("text", ["public class ", "}", "import {", "class A ", "{;", " "])
def test_long_text_does_not_hold_a_pattern_up(language, text):
    began = time.process_time()
    language.names_in(text * (200_000 // len(text)))
    assert time.process_time() - began < 5.0


def test_command_line_is_filled_in():
    names = Names("A.java", "a.A")
    words = ("java", "-Xmx{memory_mib}m", "{entry}", "{source}", "{other}")
    assert names.fill(words, memory_bytes=64 * MIB) == (
        "java", "-Xmx64m", "a.A", "A.java", "{other}",
    )  # fmt: skip


def test_run_time_of_a_language_comes_on_top_of_the_limits():
    java = TABLE.get("java").run
    allowed = java.allowance(Limits(memory_bytes=64 * MIB, processes=8))
    assert allowed.memory_bytes == 64 * MIB + java.own_memory_bytes
    assert allowed.processes == 8 + java.own_processes
    assert TABLE.get("c").run.allowance(Limits()) == Limits()
