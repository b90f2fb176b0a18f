"""How values cross between the tests' process and the candidate's.

plain data, and exact types of the library     as in `values`
{"$ref": [number, type, shape, plain]}         an object of the sender
{"$back": number}                              an object of the receiver
{"$global": [module, name]}                    something of the standard library, by name
{"$class": [name, base]}                       an exception class, made anew over there
{"$error": …}                                  an exception
"""

import builtins
import importlib
import sys
import types
from typing import TYPE_CHECKING, Any

from runners import standin, values

if TYPE_CHECKING:
    from runners.remote import Line

# What the tests take from their own library when the candidate names it. Nothing in these runs
# text as code or touches the process: a function from here can be called with anything.
LENT_MODULES = frozenset({
    "bisect", "cmath", "collections", "copy", "datetime", "decimal", "fractions", "functools",
    "heapq", "itertools", "json", "math", "random", "re", "statistics", "string", "time",
})  # fmt: skip
_BASES: tuple[Any, ...] = (int, float, str, tuple, list, dict, set, frozenset, bytes)
_MAX_ARGS = 4
_MAX_TEXT = 1000


class Crossing:
    """One end's objects, and its view of the other's."""

    def __init__(self, line: "Line", *, strict: bool) -> None:
        self._line, self._strict = line, strict
        self._objects: list[Any] = []
        self._numbers: dict[int, int] = {}
        self._stand_ins: dict[int, Any] = {}
        self._exceptions: dict[str, type[BaseException]] = {}
        self.encoder = values.Encoder(rich=True, fallback=self._refer)
        self.decoder = values.Decoder({
            "$ref": lambda content: self._stand_in(*content),
            "$back": self.own,
            "$global": lambda content: self._global(*content),
            "$class": lambda content: self._class(*content),
            "$error": self.exception,
        })  # fmt: skip

    def own(self, number: Any) -> Any:
        """Returns an object of this end.

        Raises:
            LookupError, TypeError: there is none of that number.
        """
        if type(number) is not int or number < 0:
            raise LookupError(number)
        return self._objects[number]

    def _refer(self, value: Any) -> Any:
        """The encoder's fallback: what is no plain data is named."""
        kind = type(value)
        if issubclass(kind, standin.Stand_in):
            return {"$back": value.si_number}
        if issubclass(kind, BaseException):
            return {"$error": self.raised(value)}
        known = _global_name(value)
        if known is not None and (not self._strict_about(known[0])):
            return {"$global": known}
        if issubclass(kind, type) and issubclass(value, BaseException):
            self._exceptions[value.__name__] = value
            return {"$class": [value.__name__, _known_base(value)]}
        number = self._number_of(value)
        return {"$ref": [number, kind.__name__, standin.shape_of(kind), self._plain_part(value)]}

    def _strict_about(self, module: str) -> bool:
        """The tests name anything of the library; the candidate only what is lent."""
        return not self._strict and module.partition(".")[0] not in LENT_MODULES | {"builtins"}

    def _number_of(self, value: Any) -> int:
        number = self._numbers.get(id(value))
        if number is None:
            number = self._numbers[id(value)] = len(self._objects)
            self._objects.append(value)
        return number

    def _plain_part(self, value: Any) -> Any:
        """Returns what an instance of a subclass of a built-in type is as that type."""
        base = next((base for base in _BASES if isinstance(value, base)), None)
        if base is None or isinstance(value, type):
            return None
        if issubclass(base, dict):
            return self.encoder.plain(dict(dict.items(value)))
        convert = base.__int__ if base is int else base.__str__ if base is str else None
        return self.encoder.plain(convert(value) if convert else base.__new__(base, value))

    def _stand_in(self, number: int, kind: str, shape: list[str], plain: Any) -> Any:
        if number not in self._stand_ins:
            self._stand_ins[number] = self._line.stand_in(int(number), str(kind), shape, plain)
        return self._stand_ins[number]

    def _global(self, module: str, name: str) -> Any:
        """Returns something of the library; the tests take only types and what is lent."""
        if self._strict and module not in LENT_MODULES:
            value = getattr(builtins, name)
            if module != "builtins" or not isinstance(value, type):
                raise LookupError(name)
            return value
        found: Any = importlib.import_module(module)
        for part in name.split(".") if name else ():
            found = getattr(found, part)
        return found

    def _class(self, name: str, base_name: str) -> type[BaseException]:
        known = self._exceptions.get(name)
        if known is None:
            base = getattr(builtins, base_name)
            if not issubclass(base, BaseException):
                raise TypeError(base_name)
            known = self._exceptions[name] = type(name, (base,), {"__str__": _message_of})
        return known

    def raised(self, error: BaseException) -> dict[str, Any]:
        """Describes an exception."""
        kind = type(error)
        try:
            message = str(error)[:_MAX_TEXT]
        except Exception:  # noqa: BLE001 - the exception's own method
            message = ""
        self._exceptions.setdefault(kind.__name__, kind)
        return {
            "raise": kind.__name__, "base": _known_base(kind), "from": _global_name(kind),
            "message": message,
            "args": [self.plain(arg) for arg in error.args[:_MAX_ARGS]],
            "attributes": {
                name: self.plain(value)
                for name, value in vars(error).items() if not name.startswith("_")
            },
        }  # fmt: skip

    def exception(self, content: Any) -> BaseException:
        """Returns the exception that the other end describes."""
        decode = self._line.decode
        kind = self._exception_class(content)
        args = [decode(arg) for arg in content.get("args", ())]
        try:
            error = kind.__new__(kind, *args)
        except TypeError:
            error = Exception.__new__(Exception, str(content.get("message")))
        error.args = tuple(args)
        if hasattr(error, "__dict__") and kind.__module__ != "builtins":
            attributes = {str(k): decode(v) for k, v in content.get("attributes", {}).items()}
            vars(error).update(attributes, _message=str(content.get("message")))
        return error

    def _exception_class(self, content: Any) -> type[BaseException]:
        name = content["raise"]
        known = getattr(builtins, str(name), None)
        if isinstance(known, type) and issubclass(known, BaseException):
            return known
        if content.get("from"):
            module, qualified = content["from"]
            found = getattr(sys.modules.get(module), qualified, None)
            if isinstance(found, type) and issubclass(found, BaseException):
                return found
        return self._class(str(name), str(content.get("base")))

    def describe(self, value: Any) -> Any:
        """Returns what a name of the candidate stands for, for the tests to take."""
        if isinstance(value, types.ModuleType):
            return {"module": value.__name__}
        return {"value": self.plain(value)}

    def plain(self, value: Any) -> Any:
        """Returns any value as JSON; one that contains itself is named, like an object."""
        try:
            return self.encoder.plain(value)
        except values.NotPlainData:
            kind = type(value)
            return {"$ref": [self._number_of(value), kind.__name__, standin.shape_of(kind), None]}


def _message_of(error: BaseException) -> str:
    message = vars(error).get("_message")
    return str(message) if message is not None else ", ".join(map(str, error.args))


def _global_name(value: Any) -> list[str] | None:
    """Returns where a module, class or function of the standard library is to be found."""
    if isinstance(value, types.ModuleType):
        module, name = value.__name__, ""
    elif isinstance(value, type | types.FunctionType | types.BuiltinFunctionType):
        module, name = str(value.__module__), value.__qualname__
    else:
        return None
    if module.partition(".")[0] not in sys.stdlib_module_names or module == "__main__":
        return None
    found: Any = sys.modules.get(module)
    for part in name.split(".") if name else ():
        found = getattr(found, part, None)
    return [module, name] if found is value else None


def _known_base(kind: type) -> str:
    """Returns the nearest ancestor that every interpreter knows."""
    for ancestor in kind.__mro__:
        if getattr(builtins, ancestor.__name__, None) is ancestor:
            return str(ancestor.__name__)
    return "Exception"


def change_in_place(arg: Any, after: Any) -> None:
    """Gives a list, dict or set the content that the other end's copy has got."""
    if type(arg) is list and type(after) is list:
        arg[:] = after
    elif type(arg) in (dict, set) and type(after) is type(arg):
        arg.clear()
        arg.update(after)
