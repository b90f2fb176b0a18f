"""The files of the page."""

import re

import pytest

from sandbox_service.dashboard.page import HEADERS, PAGE, page_files

TEXTS = {
    name: file.content.decode() for name, file in page_files().items() if not name.endswith(".svg")
}
SCRIPTS = {name: text for name, text in TEXTS.items() if name.endswith(".js")}


def test_policy_allows_the_pages_own_files_and_nothing_else():
    policy = HEADERS["Content-Security-Policy"]
    assert policy.startswith("default-src 'none';")
    assert "unsafe" not in policy
    assert "*" not in policy
    assert "http" not in policy


@pytest.mark.parametrize("name", SCRIPTS)
def test_script_makes_no_html_of_text(name):
    forbidden = r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(|new Function|srcdoc"
    assert not re.search(forbidden, SCRIPTS[name])


@pytest.mark.parametrize("name", TEXTS)
def test_file_names_no_other_site(name):
    addresses = set(re.findall(r"https?://[\w./]+", TEXTS[name]))
    # The name of a namespace is no address that anybody asks.
    assert addresses <= {"http://www.w3.org/2000/svg"}


def test_page_has_no_script_or_style_of_its_own():
    assert not re.search(r"<style|style=|\son\w+=", TEXTS[PAGE])
    assert re.findall(r"<script[^>]*>(.*?)</script>", TEXTS[PAGE]) == [""]


def test_every_file_that_a_script_imports_is_there():
    imported = {name for text in SCRIPTS.values() for name in re.findall(r'from "\./(.+?)"', text)}
    assert imported <= SCRIPTS.keys()
    assert imported | {"app.js"} == SCRIPTS.keys()


@pytest.mark.parametrize("name", TEXTS)
def test_file_is_short(name):
    assert TEXTS[name].count("\n") <= 150
