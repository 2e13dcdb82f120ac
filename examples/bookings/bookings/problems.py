"""Errors that the caller of the API sees."""

from starlette.requests import Request
from starlette.responses import JSONResponse


class Problem(Exception):
    """A request that cannot be done: an HTTP status, a slug for programs, and a sentence for people."""

    def __init__(self, status: int, error: str, detail: str) -> None:
        super().__init__(detail)
        self.status = status
        self.error = error
        self.detail = detail


async def answer(request: Request, problem: Problem) -> JSONResponse:
    """Turn a problem into the response that says it."""
    return JSONResponse({"error": problem.error, "detail": problem.detail}, status_code=problem.status)
