"""The language table, read from the folders under `images/`.

Adding a language is adding a folder; nothing else lists them.
"""

import shutil
import subprocess
import tomllib
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, ValidationError

from sandbox_service.errors import SettingsError, UnknownLanguage
from sandbox_service.naming import Names, first_match
from sandbox_service.schema.base import Model
from sandbox_service.schema.limits import MIB, Limits

_HOST_PYTHON = "/usr/bin/python3"
# What programs find there, whatever the service's own path is.
_HOST_PATH = "/usr/local/bin:/usr/bin:/bin"
_FIND_MODULES = "import sys, importlib.util as u; sys.exit(None in map(u.find_spec, sys.argv[1:]))"


class CompileStep(Model):
    """What turns the source into something that runs."""

    argv: tuple[str, ...]
    """Command line, run in the folder that holds the source."""

    artifacts: tuple[str, ...]
    """Files to keep, relative to that folder; runs see them under `/program`. `*.class` stands
    for all files that end so, in folders below as well."""

    cpu_time_s: Annotated[float, Field(gt=0)] = 20.0
    """CPU seconds allowed to the compiler."""

    memory_bytes: Annotated[int, Field(ge=16 * MIB)] = 1024 * MIB
    """Memory allowed to the compiler."""

    @property
    def limits(self) -> Limits:
        """The compiler's limits."""
        return Limits(
            cpu_time_s=self.cpu_time_s,
            memory_bytes=self.memory_bytes,
            output_bytes=MIB // 4,
            disk_bytes=256 * MIB,
        )


class RunStep(Model):
    """How the program is started."""

    kind: Literal["exec", "python"] = "exec"
    """`exec` starts the command line; `python` forks the warm interpreter."""

    argv: tuple[str, ...] = ()
    """Command line for `exec`, before the test's own arguments."""

    address_space_limit: bool = True
    """False for languages that reserve far more address space than they use."""

    own_memory_bytes: int = 0
    """What the language's run time takes beside the program; a run may have it on top."""

    own_processes: int = 0
    """Threads that the run time starts for itself; a run may have them on top."""

    out_of_memory: tuple[str, ...] = ()
    """What the run time prints to standard error when it ends a program for memory."""

    def allowance(self, limits: Limits) -> Limits:
        """Returns what the sandbox allows, so that the program itself may have its limits."""
        if not self.own_memory_bytes and not self.own_processes:
            return limits
        return limits.model_copy(
            update={
                "memory_bytes": limits.memory_bytes + self.own_memory_bytes,
                "processes": limits.processes + self.own_processes,
            }
        )


class NamedSource(Model):
    """A file name that depends on the program."""

    pattern: str
    """Regular expression with one group, which is looked for in the program."""

    name: str
    """File name, with `{name}` for the group."""


Probe = Literal["echo", "fail", "loop", "flood", "hoard"]
"""Copy the rest of the input, fail, go on for ever, print for ever, take ever more memory."""


class Examples(Model):
    """Names of the example programs beside `language.toml`, and what they read and print."""

    stdin: str = ""
    """Standard input of the examples."""

    expected_stdout: str
    """What the accepted example prints."""

    accepted: str
    """A program that is right."""

    wrong: str
    """A program that runs and is wrong."""

    compile_error: str
    """A text that is not a program."""

    probe: str
    """A program that does what the first line of its standard input says."""

    probes: tuple[Probe, ...] = ("echo", "fail", "loop", "flood", "hoard")
    """What the probe can do."""


class Language(Model):
    """One folder under `images/`."""

    name: Annotated[str, Field(pattern=r"^[a-z][a-z0-9_-]*$")]
    """Name in submissions; equals the folder's name."""

    title: str
    """Name for people, with the version."""

    aliases: tuple[str, ...] = ()
    """Other names, those of other services among them."""

    image: str
    """Image family that runs it: a folder under `images/` with a Dockerfile."""

    source: str
    """File name of the program."""

    sources: tuple[NamedSource, ...] = ()
    """Other names that it may need; the first whose pattern is found counts."""

    entry: tuple[str, ...] = ()
    """Patterns for what is started; without a match it is the source's name without its ending."""

    package: tuple[str, ...] = ()
    """Patterns for what stands before that name and a dot."""

    compile: CompileStep | None = None
    """None for languages without such a step."""

    run: RunStep
    """How the program is started."""

    tools: tuple[str, ...] = ()
    """Programs that a host must have for the local engine to offer it."""

    modules: tuple[str, ...] = ()
    """Modules that the host's Python must have for the local engine to offer it."""

    env: dict[str, str] = {}
    """Environment of compile and runs."""

    examples: Examples
    """Programs that the tests run."""

    def names_in(self, code: str) -> Names:
        """Returns the names that a program of this language has."""
        source = self.source
        for each in self.sources:
            found = first_match([each.pattern], code)
            if found is not None:
                source = each.name.replace("{name}", found)
                break
        if not self.entry:
            return Names(source)
        entry = first_match(self.entry, code) or source.partition(".")[0]
        package = first_match(self.package, code)
        return Names(source, f"{package}.{entry}" if package else entry)

    def is_on_this_host(self) -> bool:
        """Tells whether the host has the tools and modules, as the local engine needs."""
        return all(shutil.which(tool, path=_HOST_PATH) for tool in self.tools) and _has_modules(
            self.modules
        )


@cache
def _has_modules(modules: tuple[str, ...]) -> bool:
    """Tells whether the Python that the local engine runs programs with has them."""
    if not modules:
        return True
    command = [_HOST_PYTHON, "-I", "-c", _FIND_MODULES, *modules]
    try:
        return subprocess.run(command, capture_output=True, check=False).returncode == 0
    except OSError:
        return False


class LanguageTable:
    """All languages by name and alias."""

    def __init__(self, languages: Iterable[Language]) -> None:
        self._by_name: dict[str, Language] = {}
        self.languages = tuple(sorted(languages, key=lambda language: language.name))
        for language in self.languages:
            for name in (language.name, *language.aliases):
                other = self._by_name.setdefault(name.lower(), language)
                if other is not language:
                    raise SettingsError(f"{name!r} names both {other.name} and {language.name}")

    def get(self, name: str) -> Language:
        """Returns the language of that name or alias.

        Raises:
            UnknownLanguage: no folder carries the name.
        """
        language = self._by_name.get(name.lower())
        if language is None:
            known = ", ".join(sorted(language.name for language in self.languages))
            raise UnknownLanguage(f"unknown language {name!r}; known are {known}", field="language")
        return language


def load_languages(images_dir: Path) -> LanguageTable:
    """Reads every `images/*/language.toml`.

    Raises:
        SettingsError: a file does not fit, or there is none.
    """
    languages = []
    for path in sorted(images_dir.glob("*/language.toml")):
        try:
            language = Language.model_validate(tomllib.loads(path.read_text("utf-8")))
        except (ValidationError, tomllib.TOMLDecodeError) as error:
            raise SettingsError(f"{path}: {error}") from error
        if language.name != path.parent.name:
            raise SettingsError(f"{path}: name is {language.name!r}, not the folder's")
        languages.append(language)
    if not languages:
        raise SettingsError(f"no language.toml under {images_dir}")
    return LanguageTable(languages)
