"""`sandbox-service train sft|ppo|grpo|eval CONFIG`; torch is imported once a command runs."""

from pathlib import Path
from typing import Annotated

import typer

from sandbox_service.errors import SandboxServiceError, SettingsError
from sandbox_service.training.config import TrainingConfig, read_config

train_app = typer.Typer(
    no_args_is_help=True, help="Train a model from rewards of the service (extra `trainer`)."
)
Config = Annotated[Path, typer.Argument(help="TOML or YAML file.")]
Output = Annotated[str | None, typer.Option(help="Folder in place of the file's `output`.")]
Url = Annotated[str | None, typer.Option(help="Service in place of the file's.")]
Seed = Annotated[int | None, typer.Option(help="Seed in place of the file's.")]
Model = Annotated[str | None, typer.Option(help="Model in place of the file's.")]


@train_app.command()
def sft(config: Config, output: Output = None, seed: Seed = None, model: Model = None) -> None:
    """Imitate demonstrations, or the good trajectories of earlier runs."""
    try:
        settings = _settings(config, output, None, seed, model)
        from sandbox_service.training.sft import train_sft  # noqa: PLC0415 - imports torch

        typer.echo(f"policy   {train_sft(settings)}")
    except (SandboxServiceError, ImportError) as error:
        raise _explained(error) from error


@train_app.command()
def ppo(
    config: Config,
    output: Output = None,
    service_url: Url = None,
    seed: Seed = None,
    model: Model = None,
) -> None:
    """Proximal policy optimisation, from the newest checkpoint if there is one."""
    try:
        settings = _settings(config, output, service_url, seed, model)
        from sandbox_service.training.opening import open_session  # noqa: PLC0415 - imports torch
        from sandbox_service.training.ppo import train_ppo  # noqa: PLC0415 - as above

        with open_session(settings, with_critic=True) as session:
            train_ppo(session)
    except (SandboxServiceError, ImportError) as error:
        raise _explained(error) from error
    _tell(settings)


@train_app.command()
def grpo(
    config: Config,
    output: Output = None,
    service_url: Url = None,
    seed: Seed = None,
    model: Model = None,
) -> None:
    """Group-relative policy optimisation, from the newest checkpoint if there is one."""
    try:
        settings = _settings(config, output, service_url, seed, model)
        from sandbox_service.training.grpo import train_grpo  # noqa: PLC0415 - imports torch
        from sandbox_service.training.opening import open_session  # noqa: PLC0415 - as above

        with open_session(settings, with_critic=False) as session:
            train_grpo(session)
    except (SandboxServiceError, ImportError) as error:
        raise _explained(error) from error
    _tell(settings)


@train_app.command("eval")
def measure(
    config: Config, service_url: Url = None, seed: Seed = None, model: Model = None
) -> None:
    """Measure mean reward and pass@k on held-out problems."""
    try:
        settings = _settings(config, None, service_url, seed, model)
        from sandbox_service.training.evaluate import evaluate_model  # noqa: PLC0415 - as above

        for name, value in evaluate_model(settings).items():
            typer.echo(f"{name:32} {value:.4f}")
    except (SandboxServiceError, ImportError) as error:
        raise _explained(error) from error


def _settings(
    path: Path, output: str | None, url: str | None, seed: int | None, model: str | None
) -> TrainingConfig:
    config = read_config(path)
    changes: dict[str, object] = {}
    if output is not None:
        changes["output"] = output
    if seed is not None:
        changes["seed"] = seed
    if url is not None:
        changes["reward"] = config.reward.model_copy(update={"service_url": url})
    if model is not None:
        changes["model"] = config.model.model_copy(update={"name_or_path": model})
    return config.model_copy(update=changes)


def _explained(error: SandboxServiceError | ImportError) -> typer.Exit:
    if isinstance(error, ImportError):
        error = SettingsError(
            f"{error}: the extra is missing: pip install 'sandbox-service[trainer]'"
        )
    typer.secho(str(error), fg="red", err=True)
    return typer.Exit(1)


def _tell(config: TrainingConfig) -> None:
    """Prints what the run's figures say about its health."""
    from sandbox_service.training.diagnosis import diagnose  # noqa: PLC0415 - as above
    from sandbox_service.training.tracking import read_metrics  # noqa: PLC0415 - as above

    typer.echo(f"output   {config.output}")
    for finding in diagnose(read_metrics(Path(config.output, "metrics.jsonl"))):
        typer.echo(f"{finding.name:20} {finding.evidence}\n{'':20} cure: {finding.cure}")
