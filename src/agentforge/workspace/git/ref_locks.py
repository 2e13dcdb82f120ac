"""Lock files of git that stand in the way: of a git that works at this moment, or of one that was killed and left them."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Sequence
from pathlib import Path

STALE_S = 10.0
"""Git holds the lock of a ref for milliseconds; one that stands so long belongs to nobody any more."""

_LOOK_AGAIN_S = 0.05
_HELD = re.compile(r"Unable to create '(/.+?\.lock)': File exists")


def lock_in_the_way(stderr: bytes, *, places: Sequence[Path]) -> Path | None:
    """The lock file that git names as the reason why it refused; None for every other reason, and for locks elsewhere.

    Args:
        places: folders whose locks are ours to wait for. Those of a person's index, and of the packed refs, may be held for long.
    """
    found = _HELD.findall(os.fsdecode(stderr))
    lock = Path(found[-1]) if found else None
    ours = lock is not None and ".." not in lock.parts and any(lock.is_relative_to(place) for place in places)
    return lock if ours else None


def gave_way(lock: Path) -> bool:
    """Wait until a lock is gone, and remove it when it is so old that its holder must have been killed.

    Returns:
        Whether the call may be tried again.
    """
    while True:
        try:
            found = lock.stat()
            if abs(time.time() - found.st_mtime) >= STALE_S:
                lock.unlink()
                return True
        except FileNotFoundError:
            return True
        except OSError:
            return False
        time.sleep(_LOOK_AGAIN_S)
