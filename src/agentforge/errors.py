"""Every error that AgentForge raises on purpose, in one tree. What went wrong, to which thing, what to do.

AgentForgeError                         1   internal error
├── UsageError                          2   the command line or a file of the user's is wrong
│   ├── ConfigError                         settings: unknown key, wrong type, one key in two places
│   ├── TrustRequired                       a project brings what would run or steer, and nobody agreed
│   ├── ContractInvalid                     a contract file that cannot be loaded
│   ├── RepositoryError                     no git, no commits, a bare repository, a dirty tree
│   ├── ModelFileError                      the file of a local model: not one, cut short, another than was asked for
│   └── ModelNotConfigured                  no model was chosen and none was found
├── VerificationFailed                  4   a check that the user asked for did not hold
├── ModelError                          5   the model or its provider
│   ├── ModelAuthError                      401, 403: the key is wrong or missing
│   ├── ModelNotFound                       404: the provider has no such model
│   ├── ContextTooLong                      the provider says that the prompt is too long
│   ├── ModelRequestRejected                any other 4xx: asking again would not help
│   ├── ModelRateLimited                    429 after all tries
│   ├── ModelUnavailable                    5xx, no connection, time-out, after all tries
│   ├── LocalModelError                     a model on this machine cannot be served here
│   ├── ModelReplyEndless                   a reply that went on far beyond what was asked for, and was cut off
│   └── ModelReplyBroken                    a stream that ended without a finish reason, a body that is not JSON
├── LimitReached                        6   steps, tokens, money or time
├── InfrastructureError                 7   what the harness itself stands on
│   ├── SandboxError                        bubblewrap is missing or refused
│   ├── ToolchainError                      git, an interpreter or a test runner cannot be started
│   ├── ForgeError                          the forge of a pull request cannot be asked, or refuses
│   └── StorageError                        a durable write failed: disk full, I/O error
├── LockedError                         8   another process drives this run
├── ConflictError                       8   the thing is not in the state that the command needs
└── IntegrityError                      9   the trail was altered or damaged
"""

from __future__ import annotations

import errno

EXIT_DONE = 0
EXIT_WAITING = 3  # a human is asked; not an error
EXIT_HUNG_UP = 129  # the terminal went away, as SIGHUP says it
EXIT_INTERRUPTED = 130


class AgentForgeError(Exception):
    """Something went wrong for which there is no slug of its own; it may be a defect of AgentForge.

    The base of all errors that AgentForge raises on purpose.

    Args:
        message: what happened, to which thing.
        hint: what the user can do next; printed after a dash.
    """

    slug = "internal"
    exit_code = 1

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        tail = f" - {self.hint}" if self.hint else ""
        return f"{self.message}{tail}"


class UsageError(AgentForgeError):
    """The command line, or a file that the user wrote, is wrong."""

    slug = "usage"
    exit_code = 2


class ConfigError(UsageError):
    """A setting is unknown, of the wrong type, or stands in two places."""

    slug = "config"


class TrustRequired(UsageError):
    """A project brings something that would run or steer, and nobody agreed to it."""

    slug = "untrusted"


class ContractInvalid(UsageError):
    """A contract file cannot be loaded: bad YAML, unknown keyword, unknown rule."""

    slug = "contract-invalid"


class RepositoryError(UsageError):
    """The repository cannot carry a task: no git, no commits, bare, dirty."""

    slug = "repository"


class ModelFileError(UsageError):
    """The file of a local model is no model, was cut short, or is another one than was asked for."""

    slug = "model-file"


class ModelNotConfigured(UsageError):
    """No model was chosen and none could be found."""

    slug = "no-model"


class VerificationFailed(AgentForgeError):
    """A check that the user asked for did not hold."""

    slug = "verification"
    exit_code = 4


class ModelError(AgentForgeError):
    """The model or its provider failed.

    Attributes:
        requests: HTTP requests that were made before giving up.
        retryable: whether another model (the next of a fallback chain) may be asked instead.
    """

    slug = "model"
    exit_code = 5
    retryable = True

    def __init__(self, message: str, *, hint: str = "", requests: int = 1) -> None:
        super().__init__(message, hint=hint)
        self.requests = requests


class ModelAuthError(ModelError):
    """The provider answers 401 or 403: the key is missing, wrong, or may not use this model."""

    slug = "model-auth"


class ModelNotFound(ModelError):
    """The provider answers 404: it has no such model or path."""

    slug = "model-not-found"


class ContextTooLong(ModelError):
    """The provider refuses the prompt as too long."""

    slug = "context-too-long"
    retryable = False


class ModelRequestRejected(ModelError):
    """The provider refuses the request with any other 4xx."""

    slug = "model-request"
    retryable = False


class ModelRateLimited(ModelError):
    """The provider still answers 429 after all tries."""

    slug = "rate-limited"


class ModelUnavailable(ModelError):
    """The provider answers 5xx, cannot be reached, or takes too long, after all tries."""

    slug = "model-unavailable"


class ModelReplyBroken(ModelError):
    """The reply ended without a finish reason or cannot be read."""

    slug = "model-reply"


class LocalModelError(ModelError):
    """A model on this machine cannot be served here: the processor, the memory, the file, or the server itself."""

    slug = "local-model"


class ModelReplyEndless(ModelError):
    """The reply went on far beyond what was asked for and was cut off; asking again would cost the same again."""

    slug = "model-endless"


class LimitReached(AgentForgeError):
    """The task reached a limit of steps, tokens, money or time."""

    slug = "limit"
    exit_code = 6


class InfrastructureError(AgentForgeError):
    """Something that the harness stands on does not work."""

    slug = "infrastructure"
    exit_code = 7


class SandboxError(InfrastructureError):
    """The sandbox is missing or could not be set up."""

    slug = "sandbox"


class ToolchainError(InfrastructureError):
    """git, an interpreter, a test runner or a checker cannot be started."""

    slug = "toolchain"


class ForgeError(InfrastructureError):
    """The forge of a pull request cannot be asked, or refuses."""

    slug = "forge"


class StorageError(InfrastructureError):
    """A durable write failed; nothing that was acknowledged is lost."""

    slug = "storage"


class LockedError(AgentForgeError):
    """Another process drives this run."""

    slug = "locked"
    exit_code = 8


class ConflictError(AgentForgeError):
    """The thing is not in the state that the command needs."""

    slug = "conflict"
    exit_code = 8


class IntegrityError(AgentForgeError):
    """The trail was altered or damaged in the middle."""

    slug = "integrity"
    exit_code = 9


_REMEDIES = (
    ({errno.ENOSPC, errno.EDQUOT, errno.EFBIG}, "free some space, then do it again: nothing that was kept is lost"),
    ({errno.ENOTDIR, errno.EEXIST}, "a file stands where a folder is wanted: move it away, then try again"),
    ({errno.EACCES, errno.EPERM}, "look at who owns the folder, and at its mode, then try again"),
    ({errno.EROFS}, "this file system can only be read: work in a copy, and set AGENTFORGE_HOME to a writable folder"),
    ({errno.ELOOP, errno.ENAMETOOLONG}, "work at another path"),
    (
        {errno.ENOLCK, errno.EOPNOTSUPP},
        "this file system cannot lock files, as some network file systems: set AGENTFORGE_HOME to a folder on a local "
        "disk, and keep the repository on one, too",
    ),
)
"""What can be done, by the number of the system's error."""


def remedy_of(exc: OSError) -> str:
    """What the user can do about an error of the system; "" where that depends on what was being done."""
    return next((hint for numbers, hint in _REMEDIES if exc.errno in numbers), "")
