"""One event loop in a thread: what the protocol's library does asynchronously, the engine waits for, interruptibly."""

from __future__ import annotations

import asyncio
import concurrent.futures
import threading
from collections.abc import Coroutine
from typing import Any, TypeVar

from agentforge.cancellation import interruptible

_T = TypeVar("_T")


class Loop:
    """The thread is started with the first piece of work, and ended by `close`."""

    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._lock = threading.Lock()

    def run(self, work: Coroutine[Any, Any, _T]) -> _T:
        """Wait for a piece of work.

        Raises:
            KeyboardInterrupt: the user stopped it; the work is cancelled.
        """
        future = self.begin(work)
        try:
            with interruptible(lambda: _cancel(future)):
                return future.result()
        except KeyboardInterrupt:
            future.cancel()
            raise

    def begin(self, work: Coroutine[Any, Any, _T]) -> concurrent.futures.Future[_T]:
        """Start a piece of work and go on."""
        return asyncio.run_coroutine_threadsafe(work, self._running())

    def close(self) -> None:
        """End the thread; work that is under way is cancelled."""
        if self._loop is None or self._thread is None:
            return
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop = self._thread = None

    def _running(self) -> asyncio.AbstractEventLoop:
        with self._lock:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                self._thread = threading.Thread(target=_serve, args=(self._loop,), name="tool servers", daemon=True)
                self._thread.start()
            return self._loop


def _cancel(future: concurrent.futures.Future[Any]) -> None:
    future.cancel()


def _serve(loop: asyncio.AbstractEventLoop) -> None:
    asyncio.set_event_loop(loop)
    try:
        loop.run_forever()
    finally:
        tasks = asyncio.all_tasks(loop)
        for task in tasks:
            task.cancel()
        if tasks:
            loop.run_until_complete(asyncio.gather(*tasks, return_exceptions=True))
        loop.run_until_complete(loop.shutdown_asyncgens())
        loop.close()
