"""State as bytes."""

from __future__ import annotations

import pytest

from elsinore.actors.state import pack, packed_blocks, unpack


@pytest.mark.parametrize("blocks", [[], [b""], [b"some", b"x" * 300, b"y" * 70_000]])
def test_blocks_are_packed_in_pieces_as_a_list_is_packed(blocks: list[bytes]) -> None:
    pieces = packed_blocks([memoryview(block) for block in blocks])
    assert unpack(b"".join(pieces)) == unpack(pack(blocks)) == blocks
