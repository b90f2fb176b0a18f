"""Linked lists and binary trees as LeetCode has them, from and to plain lists.

ListNode          [1, 2, 3]                     the chain 1 → 2 → 3; [] is None
TreeNode          [1, null, 2]                  level by level, null where no child is
list[ListNode]    [[1, 2], [3]]                 a list of them
"""

import collections
from collections.abc import Callable
from typing import Any

from runners import values

_MAX_NODES = 1_000_000


class ListNode:
    """Singly-linked list node."""

    def __init__(self, val: Any = 0, next: Any = None) -> None:  # noqa: A002 - LeetCode's name
        self.val = val
        self.next = next


class TreeNode:
    """Binary tree node."""

    def __init__(self, val: Any = 0, left: Any = None, right: Any = None) -> None:
        self.val = val
        self.left = left
        self.right = right


OFFERED = {"ListNode": ListNode, "TreeNode": TreeNode}


class Converter:
    """Builds nodes of the classes that the program has, its own or those offered."""

    def __init__(self, namespace: dict[str, Any]) -> None:
        self._list_node = namespace.get("ListNode", ListNode)
        self._tree_node = namespace.get("TreeNode", TreeNode)

    def build(self, kind: str | None, value: Any) -> Any:
        """Returns the nodes that a plain list describes; other kinds go through as they are."""
        return self._convert(kind, value, {"ListNode": self._chain, "TreeNode": self._tree})

    def take_apart(self, kind: str | None, value: Any) -> Any:
        """Returns the plain list of nodes.

        Raises:
            NotPlainData: what came is no list or tree, or it has no end.
        """
        return self._convert(kind, value, {"ListNode": _items, "TreeNode": _levels})

    def _convert(self, kind: str | None, value: Any, one: dict[str, Callable[[Any], Any]]) -> Any:
        if kind is None:
            return value
        inner = kind.removeprefix("list[").removesuffix("]")
        if inner == kind:
            return one[kind](value)
        if type(value) is not list:
            raise values.NotPlainData(f"a {type(value).__name__} instead of a list of nodes")
        return [one[inner](item) for item in value]

    def _chain(self, items: list[Any] | None) -> Any:
        first = None
        for item in reversed(items or []):
            node = self._list_node(item)
            node.next = first
            first = node
        return first

    def _tree(self, items: list[Any] | None) -> Any:
        if not items or items[0] is None:
            return None
        nodes = [None if item is None else self._tree_node(item) for item in items]
        places = collections.deque(
            (node, side) for node in nodes if node is not None for side in ("left", "right")
        )
        for node in nodes[1:]:
            parent, side = places.popleft()
            setattr(parent, side, node)
        return nodes[0]


def _items(node: Any) -> list[Any]:
    found: list[Any] = []
    seen: set[int] = set()
    while node is not None:
        if id(node) in seen or len(found) > _MAX_NODES:
            raise values.NotPlainData("a linked list without an end")
        seen.add(id(node))
        found.append(_of(node, "val"))
        node = _of(node, "next")
    return found


def _levels(root: Any) -> list[Any]:
    found: list[Any] = []
    waiting = collections.deque([root])
    while waiting:
        node = waiting.popleft()
        found.append(None if node is None else _of(node, "val"))
        if node is not None:
            waiting += (_of(node, "left"), _of(node, "right"))
        if len(found) > _MAX_NODES:
            raise values.NotPlainData("a tree without an end")
    while found and found[-1] is None:
        found.pop()
    return found


def _of(node: Any, name: str) -> Any:
    try:
        return getattr(node, name)
    except AttributeError:
        raise values.NotPlainData(f"a {type(node).__name__} instead of a node") from None
