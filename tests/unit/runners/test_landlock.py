"""The structures that Landlock takes, by version."""

import struct

import pytest

from runners import landlock

FILE_RIGHTS = {1: 13, 2: 14, 3: 15, 4: 15, 5: 16, 6: 16, 7: 16}


@pytest.mark.parametrize(("version", "rights"), FILE_RIGHTS.items())
def test_domain_handles_every_file_right_that_the_version_knows(version, rights):
    (handled,) = struct.unpack_from("=Q", landlock.ruleset(version))
    assert handled == (1 << rights) - 1


@pytest.mark.parametrize(("version", "size"), [(1, 8), (3, 8), (5, 8), (6, 24), (7, 24)])
def test_domain_has_the_size_that_the_version_knows(version, size):
    assert len(landlock.ruleset(version)) == size


def test_domain_scopes_signals_and_abstract_sockets_from_version_6_on():
    assert struct.unpack("=QQQ", landlock.ruleset(6))[2] == 0b11


@pytest.mark.parametrize("version", FILE_RIGHTS)
def test_rule_allows_no_right_that_the_domain_does_not_handle(version):
    handled = (1 << FILE_RIGHTS[version]) - 1
    for access in landlock.Access:
        rights, _ = struct.unpack("=Qi", landlock.rule(version, access, 3))
        assert rights & ~handled == 0


def test_reading_rule_allows_execution_and_no_change():
    rights, folder_fd = struct.unpack("=Qi", landlock.rule(7, landlock.Access.READ, 42))
    assert (rights, folder_fd) == (0b1101, 42)  # execute, read file, read folder


def test_device_rule_allows_no_new_devices():
    make_char, make_block = 1 << 6, 1 << 11
    rights, _ = struct.unpack("=Qi", landlock.rule(7, landlock.Access.DEVICES, 3))
    assert rights & (make_char | make_block) == 0
