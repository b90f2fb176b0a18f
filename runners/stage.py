"""The folder from which programs are taken: written by the supervisor, read-only for every run."""

import os

from runners import view


def _path_of(relative: str) -> str:
    """Returns the place of a file on the stage.

    Raises:
        ValueError: the path is not relative, or leaves the stage.
    """
    parts = relative.split("/")
    if relative.startswith("/") or "\0" in relative or {"", ".", ".."} & set(parts):
        raise ValueError(f"bad file name {relative!r}")
    return os.path.join(view.PROGRAM, *parts)


def clear() -> None:
    """Empties the stage. No run is alive, and no run could ever write here."""
    for folder, folders, files in os.walk(view.PROGRAM, topdown=False):
        for name in files:
            os.unlink(os.path.join(folder, name))
        for name in folders:
            os.rmdir(os.path.join(folder, name))


def put(files: dict[str, bytes], mode: int) -> None:
    """Writes files with that mode, over what is there.

    Raises:
        ValueError: a path is not relative, or leaves the stage.
    """
    for relative, content in files.items():
        path = _path_of(relative)
        os.makedirs(os.path.dirname(path), mode=0o755, exist_ok=True)
        if os.path.lexists(path):
            os.unlink(path)
        fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
        with os.fdopen(fd, "wb") as file:
            file.write(content)
