import re

import pytest

from sandbox_service.errors import SettingsError, UnknownLanguage
from sandbox_service.languages import Language, LanguageTable, load_languages
from sandbox_service.settings import Settings

IMAGES = Settings().images_dir
TABLE = load_languages(IMAGES)
LANGUAGES = pytest.mark.parametrize("language", TABLE.languages, ids=lambda each: each.name)


@pytest.mark.parametrize("name", ["c", "cpp", "bash", "python"])
def test_table_of_this_repository_has_language(name):
    assert TABLE.get(name).name == name


@pytest.mark.parametrize(
    ("alias", "name"), [("c++", "cpp"), ("C++17", "cpp"), ("python3", "python"), ("sh", "bash")]
)
def test_get_alias_in_any_case_gives_language(alias, name):
    assert TABLE.get(alias).name == name


def test_get_unknown_name_raises_and_names_the_field():
    with pytest.raises(UnknownLanguage, match="cobol") as caught:
        TABLE.get("cobol")
    assert caught.value.field == "language"


def test_two_languages_with_one_alias_raise():
    language = TABLE.get("c")
    other = language.model_copy(update={"name": "other"})
    with pytest.raises(SettingsError, match="names both"):
        LanguageTable([language, other])


def test_load_folder_without_languages_raises(tmp_path):
    with pytest.raises(SettingsError, match=r"no language\.toml"):
        load_languages(tmp_path)


def test_load_name_unlike_folder_raises(tmp_path):
    folder = tmp_path / "other"
    folder.mkdir()
    (folder / "language.toml").write_text((IMAGES / "c" / "language.toml").read_text())
    with pytest.raises(SettingsError, match="not the folder's"):
        load_languages(tmp_path)


@pytest.mark.parametrize("text", ["name = ", 'name = "broken"'], ids=["not-toml", "incomplete"])
def test_load_broken_file_raises_and_names_it(tmp_path, text):
    folder = tmp_path / "broken"
    folder.mkdir()
    (folder / "language.toml").write_text(text)
    with pytest.raises(SettingsError, match=r"broken/language\.toml"):
        load_languages(tmp_path)


@LANGUAGES
def test_language_has_an_image_family(language: Language):
    assert (IMAGES / language.image / "Dockerfile").is_file()


@LANGUAGES
def test_language_has_three_examples_that_differ(language: Language):
    examples = language.examples
    folder = IMAGES / language.name
    texts = {
        (folder / name).read_text()
        for name in (examples.accepted, examples.wrong, examples.compile_error)
    }
    assert len(texts) == 3


@LANGUAGES
def test_language_without_its_tools_is_not_on_the_host(language: Language):
    assert language.tools
    absent = language.model_copy(update={"tools": ("no-such-program-anywhere",)})
    assert not absent.is_on_this_host()


def test_language_without_its_modules_is_not_on_the_host():
    python = TABLE.get("python")
    assert python.model_copy(update={"modules": ("json",)}).is_on_this_host()
    absent = python.model_copy(update={"modules": ("json", "no_such_module_anywhere")})
    assert not absent.is_on_this_host()


def test_cpp_flags_are_those_of_the_precompiled_header():
    dockerfile = (IMAGES / "native" / "Dockerfile").read_text()
    match = re.search(r'^ARG CXX_FLAGS="(.*)"$', dockerfile, re.MULTILINE)
    assert match is not None
    compile_step = TABLE.get("cpp").compile
    assert compile_step is not None
    flags = [flag for flag in compile_step.argv if flag.startswith(("-O", "-std", "-f", "-m"))]
    assert flags == match.group(1).split()


def test_compile_step_has_limits_of_its_own():
    compile_step = TABLE.get("cpp").compile
    assert compile_step is not None
    assert compile_step.limits.cpu_time_s == compile_step.cpu_time_s
    assert compile_step.limits.memory_bytes == compile_step.memory_bytes
