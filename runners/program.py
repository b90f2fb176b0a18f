"""Runs a program as `python3 main.py` would, in a fork of the warm interpreter."""

import atexit
import gc
import io
import os
import signal
import sys
import types
from types import TracebackType
from typing import Any, NoReturn

_EXIT_FLUSH_FAILED = 120
WORK = "/work"
_USUAL_SOURCE = "main.py"
_FINALIZERS = (b"__del__", b"weakref", b"finalize")
_WITH_A_STATE = ("random", "numpy.random")


def _open_standard_streams() -> None:
    """Makes the streams that programs will find; they learn now that they stand on pipes."""
    read_end, write_end = os.pipe()
    for number in range(3):
        os.dup2(write_end if number else read_end, number)
    stdin = io.TextIOWrapper(open(0, "rb", closefd=False), encoding="utf-8")
    stdout = io.TextIOWrapper(open(1, "wb", closefd=False), encoding="utf-8")
    stderr = io.TextIOWrapper(
        open(2, "wb", closefd=False), "utf-8", "backslashreplace", line_buffering=True
    )
    for name, stream in (("stdin", stdin), ("stdout", stdout), ("stderr", stderr)):
        setattr(sys, name, stream)
        setattr(sys, f"__{name}__", stream)
    null = os.open(os.devnull, os.O_RDWR)
    for number in range(3):
        os.dup2(null, number)
    for fd in (read_end, write_end, null):
        os.close(fd)


def prepare() -> None:
    """Makes the interpreter look, before any fork, as if it had just started for a program."""
    _open_standard_streams()
    sys.path.insert(0, WORK)
    for name in [name for name in sys.modules if name.partition(".")[0] == "runners"]:
        del sys.modules[name]


def begin(order: dict[str, Any]) -> None:
    """What is left to do after the fork."""
    sys.argv = [order["source"], *order["argv"]]
    if len(order["files"]) > 1 or order["source"] != _USUAL_SOURCE:
        _unload_shadowed(order["files"])
    for name in _WITH_A_STATE:
        if name in sys.modules:  # otherwise every fork would draw the same numbers
            sys.modules[name].seed()
    gc.enable()


def _unload_shadowed(files: list[str]) -> None:
    """Forgets warm modules that a file of the submission shadows."""
    for path in files:
        name = path.partition("/")[0].removesuffix(".py")
        if name in sys.modules and name != "__main__":
            del sys.modules[name]


def load(path: str) -> types.CodeType:
    """Compiles the program's file, whatever its encoding.

    Raises:
        SyntaxError, ValueError, RecursionError, MemoryError: it is not a program.
    """
    return compile(read(path), path, "exec", dont_inherit=True)


def read(path: str) -> bytes:
    """Returns the bytes of a small file."""
    fd = os.open(path, os.O_RDONLY)
    data = os.read(fd, os.fstat(fd).st_size + 1)
    os.close(fd)
    return data


def new_main(name: str, path: str) -> types.ModuleType:
    """Returns an empty module of that name, registered in `sys.modules`."""
    module = types.ModuleType(name)
    module.__dict__.update(
        __file__=path, __builtins__=__builtins__, __cached__=None, __annotations__={}
    )
    sys.modules[name] = module
    return module


def print_exception(error: BaseException) -> None:
    """Prints a traceback that begins with the program's own first frame."""
    trace: TracebackType | None = error.__traceback__
    while trace and trace.tb_frame.f_code.co_filename.startswith("<runners."):
        trace = trace.tb_next
    sys.excepthook(type(error), error.with_traceback(trace), trace)


def exit_code_of(error: SystemExit) -> int:
    """Returns the exit code that the interpreter would end with."""
    if error.code is None:
        return 0
    if isinstance(error.code, int):
        return error.code & 0xFF
    sys.stderr.write(f"{error.code}\n")
    return 1


def finish(code: int, module: types.ModuleType, *, may_have_finalizers: bool) -> NoReturn:
    """Ends as the interpreter does: threads, exit handlers, finalisers, flush.

    Cycles of garbage are looked for only where something in them can notice: it touches all of
    the program's memory.
    """
    try:
        if "threading" in sys.modules:
            sys.modules["threading"]._shutdown()  # noqa: SLF001 - joins the threads
    except BaseException as error:  # noqa: BLE001 - a thread's last word
        print_exception(error)
    atexit._run_exitfuncs()  # noqa: SLF001 - what exit() itself calls
    for name in [key for key in module.__dict__ if key != "__builtins__"]:
        module.__dict__[name] = None
    if may_have_finalizers:
        gc.collect()
    for stream, failed in ((sys.stdout, _EXIT_FLUSH_FAILED), (sys.stderr, 0)):
        try:
            if stream is not None and not stream.closed:
                stream.flush()
        except (OSError, ValueError):
            code = code or failed
    os._exit(code)


def report_syntax_error(error: BaseException, channel: int) -> NoReturn:
    """Tells on the channel that the source is not a program, and ends."""
    print_exception(error)
    sys.stderr.flush()
    os.write(channel, b"syntax:" + f"{type(error).__name__}: {error}".encode(errors="replace"))
    os._exit(1)


def run(order: dict[str, Any], kept: list[int]) -> NoReturn:
    """Runs the program as `__main__`."""
    path = f"{WORK}/{order['source']}"
    begin(order)
    try:
        source = read(path)
        code = compile(source, path, "exec", dont_inherit=True)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        report_syntax_error(error, kept[0])
    os.close(kept[0])
    module = new_main("__main__", path)
    exit_code = 0
    try:
        exec(code, module.__dict__)  # noqa: S102 - this is what the sandbox is for
    except SystemExit as error:
        exit_code = exit_code_of(error)
    except KeyboardInterrupt:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGINT)
    except BaseException as error:  # noqa: BLE001 - the program's own exception
        print_exception(error)
        exit_code = 1
    is_simple = len(order["files"]) == 1 and not any(mark in source for mark in _FINALIZERS)
    finish(exit_code, module, may_have_finalizers=not is_simple)
