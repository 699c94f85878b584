"""The bytes of texts, as kernels read them."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa


def text_bytes(texts: pa.Array) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.uint8]]:
    """Return where each text begins and the last one ends, and the bytes of all; a null has none.

    No array can be written, as is the case with most columns of Arrow anyway: so kernels are compiled for one type.
    """
    texts = texts.cast(pa.large_string())
    _, offsets, data = texts.buffers()
    ends = np.frombuffer(offsets, np.int64)[texts.offset : texts.offset + len(texts) + 1]
    return _read_only(ends), _read_only(np.frombuffer(data or b"", np.uint8))


def _read_only(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    view = array[:]
    view.flags.writeable = False
    return view
