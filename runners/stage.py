"""The folder from which programs are taken: written by the supervisor, read-only for every run."""

import os

from runners import view, wire


def _path_of(relative: str) -> str:
    """Returns the place of a file on the stage.

    Raises:
        ValueError: the path is not relative, or leaves the stage.
    """
    parts = relative.split("/")
    if relative.startswith("/") or "\0" in relative or {"", ".", ".."} & set(parts):
        raise ValueError(f"bad file name {relative!r}")
    return os.path.join(view.PROGRAM, *parts)


class Stage:
    """What is there: nobody else could ever write here, so it need not be looked up."""

    def __init__(self) -> None:
        """Empties the folder, whatever is in it."""
        for folder, folders, files in os.walk(view.PROGRAM, topdown=False):
            for name in files:
                os.unlink(os.path.join(folder, name))
            for name in folders:
                os.rmdir(os.path.join(folder, name))
        self._files: set[str] = set()
        self._folders: set[str] = set()

    def clear(self) -> None:
        """Removes what was put; no run is alive."""
        for path in self._files:
            os.unlink(path)
        for path in sorted(self._folders, reverse=True):
            os.rmdir(path)
        self._files.clear()
        self._folders.clear()

    def put(self, files: dict[str, bytes], mode: int) -> None:
        """Writes files with that mode, over what is there.

        Raises:
            ValueError: a path is not relative, or leaves the stage.
        """
        for relative, content in files.items():
            path = _path_of(relative)
            self._make_folders(relative)
            if path in self._files:
                os.unlink(path)
            fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
            self._files.add(path)
            try:
                wire.write_all(fd, content)
            finally:
                os.close(fd)

    def _make_folders(self, relative: str) -> None:
        folders = relative.split("/")[:-1]
        for depth in range(1, len(folders) + 1):
            path = _path_of("/".join(folders[:depth]))
            if path not in self._folders:
                os.mkdir(path, 0o755)
                self._folders.add(path)
