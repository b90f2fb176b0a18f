"""The commands that look at this machine and prepare it; `cli` adds them to its own."""

import os
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from sandbox_service.demo.command import run_demo
from sandbox_service.doctor.command import run_doctor
from sandbox_service.errors import SandboxServiceError
from sandbox_service.languages import load_languages
from sandbox_service.sandbox import images
from sandbox_service.settings import Settings
from sandbox_service.training.command import train_app

images_app = typer.Typer(no_args_is_help=True, help="Images of the Docker engine.")


def _console() -> Console:
    """Returns a console that keeps its tables whole where there is no terminal."""
    console = Console()
    return console if console.is_terminal else Console(width=100)


def register(app: typer.Typer) -> None:
    """Adds `images`, `train`, `languages`, `doctor` and `demo`."""
    app.add_typer(images_app, name="images")
    app.add_typer(train_app, name="train")
    app.command("languages")(_languages)
    app.command("doctor")(_doctor)
    app.command("demo")(_demo)


@images_app.command("build")
def _build(
    names: Annotated[list[str] | None, typer.Argument(help="Families; all if none.")] = None,
    *,
    force: Annotated[bool, typer.Option(help="Build also what is there already.")] = False,
) -> None:
    """Build the images that the Docker daemon does not have yet."""
    console = _console()
    try:
        images.build(names or (), Settings(), force=force, report=console.print)
    except SandboxServiceError as error:
        console.print(str(error), style="red", markup=False)
        raise typer.Exit(1) from error


def _languages() -> None:
    """List the languages, their aliases, and what runs them."""
    table = Table("name", "title", "aliases", "image", "on this host")
    for language in load_languages(Settings().images_dir).languages:
        here = "yes" if language.is_on_this_host() else "no"
        table.add_row(
            language.name, language.title, ", ".join(language.aliases), language.image, here
        )
    _console().print(table)


def _doctor(
    *,
    attack: Annotated[bool, typer.Option("--attack", help="Attack the walls as well.")] = False,
) -> None:
    """Explain what this machine has, what is missing and how to get it."""
    raise typer.Exit(run_doctor(Settings(), _console(), with_attacks=attack))


def _demo(
    engine: Annotated[str, typer.Option(help="auto, docker or local")] = "auto",
) -> None:
    """Start a service, submit real programs, show what comes back, stop it."""
    raise typer.Exit(run_demo(Settings(), _console(), os.environ, ("--engine", engine)))
