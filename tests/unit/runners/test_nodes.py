"""Linked lists and trees, from and to plain lists."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runners import nodes, values

CONVERTER = nodes.Converter({})


@given(st.lists(st.integers()))
def test_linked_list_comes_back_as_it_went(items):
    assert CONVERTER.take_apart("ListNode", CONVERTER.build("ListNode", items)) == items


@pytest.mark.parametrize(
    "levels", [[], [1], [1, 2, 3], [1, None, 2], [1, 2, None, 3, None, None, 4]]
)
def test_tree_comes_back_as_it_went(levels):
    assert CONVERTER.take_apart("TreeNode", CONVERTER.build("TreeNode", levels)) == levels


def test_tree_has_its_children_where_the_levels_say():
    root = CONVERTER.build("TreeNode", [1, None, 2, 3])
    assert (root.left, root.right.val, root.right.left.val) == (None, 2, 3)


def test_list_of_lists_is_converted_one_by_one():
    built = CONVERTER.build("list[ListNode]", [[1], []])
    assert (built[0].val, built[1]) == (1, None)


@pytest.mark.parametrize(
    ("kind", "value"), [("ListNode", 3), ("TreeNode", "x"), ("list[ListNode]", 1)]
)
def test_what_is_no_node_is_no_plain_data(kind, value):
    with pytest.raises(values.NotPlainData):
        CONVERTER.take_apart(kind, value)


def test_other_kinds_go_through():
    assert CONVERTER.build(None, [1]) == CONVERTER.take_apart(None, [1]) == [1]
