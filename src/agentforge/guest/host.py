"""A guest in the sandbox: started behind the same walls as a command, spoken to through two pipes, ended in any case."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import copy_context
from dataclasses import replace
from threading import Thread
from typing import TYPE_CHECKING, Any, cast

from agentforge.cancellation import Cancellation, interruptible, under
from agentforge.errors import AgentForgeError, SandboxError, ToolchainError
from agentforge.guest.choice import GuestChoice
from agentforge.guest.conversation import Conversation, GuestWire, Terms
from agentforge.guest.report import GuestReport
from agentforge.workspace.processes.process import Completed
from agentforge.workspace.sandbox.box import Box, Sandbox

if TYPE_CHECKING:
    pass

_GREETING_S = 30.0
_LEAVING_S = 3.0
_OUTPUT_BYTES = 20_000


def host_guest(
    choice: GuestChoice, prompt: str, *, sandbox: Sandbox, box: Box, terms: Terms, timeout_s: float
) -> tuple[Completed, GuestReport]:
    """Start a guest, give it one prompt, and end it.

    Args:
        timeout_s: after which it is stopped; what it did until then stands.
    Raises:
        SandboxError: there is no sandbox to keep it in.
        ToolchainError: it could not be spoken to.
    """
    if sandbox.kind == "none":
        raise SandboxError(
            f"{choice.name} is only run in a sandbox", hint="install bubblewrap (apt install bubblewrap)"
        )
    walls = cast("Sandbox", replace(cast("Any", sandbox), network=choice.network))
    with _started(choice, walls, box, timeout_s=timeout_s + _GREETING_S) as guest:
        conversation = Conversation(guest.wire, terms, deadline=time.monotonic() + timeout_s)
        try:
            with interruptible(guest.kill):
                report = conversation.hold(prompt)
        except ToolchainError as exc:
            done = guest.end()
            said = done.text.strip().splitlines()
            last = f"; it said: {said[-1][:300]}" if said else ""
            raise ToolchainError(f"{choice.name}: {exc.message}{last}", hint=exc.hint) from exc
        return guest.end(), report


class _Guest:
    """A running guest; the thread waits for its process."""

    def __init__(self, wire: GuestWire, writer: int, sign: Cancellation) -> None:
        self.wire = wire
        self.done: list[Completed] = []
        self.broken: list[BaseException] = []
        self.thread = Thread()
        self._writer = writer
        self._sign = sign

    def kill(self) -> None:
        """End it at once; from any thread."""
        self._sign.cancel()

    def end(self) -> Completed:
        """Close its input and let it leave; kill it when it does not.

        Raises:
            SandboxError: the box could not be built.
        """
        if self._writer >= 0:
            os.close(self._writer)
            self._writer = -1
        self.thread.join(_LEAVING_S)
        self._sign.cancel()
        self.thread.join()
        if self.done:
            return self.done[0]
        if self.broken and not isinstance(self.broken[0], KeyboardInterrupt):
            raise self.broken[0]
        return _ended_by_us()


@contextmanager
def _started(choice: GuestChoice, sandbox: Sandbox, box: Box, *, timeout_s: float) -> Iterator[_Guest]:
    their_input, writer = os.pipe()
    reader, their_output = os.pipe()
    sign = Cancellation()
    guest = _Guest(GuestWire(reader, writer), writer, sign)
    redirected = f'exec "$@" <&{their_input} >&{their_output} {their_input}<&- {their_output}>&-'

    def work() -> None:
        try:
            with under(sign):
                guest.done.append(
                    sandbox.run(
                        ["bash", "-c", redirected, "bash", *choice.argv],
                        box=box,
                        timeout_s=timeout_s,
                        output_limit_bytes=_OUTPUT_BYTES,
                        pass_fds=(their_input, their_output),
                    )
                )
        except (AgentForgeError, OSError, KeyboardInterrupt) as exc:  # told to whoever waits for it
            guest.broken.append(exc)
        finally:
            os.close(their_input)
            os.close(their_output)  # the last writer: whoever reads meets the end

    guest.thread = Thread(target=copy_context().run, args=(work,), name="guest", daemon=True)
    guest.thread.start()
    try:
        yield guest
    except KeyboardInterrupt:
        guest.kill()
        raise
    finally:
        guest.end()
        os.close(reader)


def _ended_by_us() -> Completed:
    return Completed(exit_code=137, output=b"", omitted_bytes=0, timed_out=False, duration_s=0.0)
