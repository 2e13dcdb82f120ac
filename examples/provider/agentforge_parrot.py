"""A provider that repeats the last message. A real one would be a few lines over `HostedModel` and a dialect."""

from agentforge.messages import ModelReply, Usage

KEY = ""  # the variable that holds the key; "" = none is needed


class Parrot:
    """Anything with a name, `complete` and `close` is a model."""

    def __init__(self, spec):
        self.name = spec.full_name

    def complete(self, request, *, on_delta=None):
        """Answer with what was said last."""
        said = request.messages[-1].text.strip().splitlines()[-1]
        if on_delta is not None:
            on_delta(said)
        return ModelReply(
            text=said, tool_calls=(), finish="stop", usage=Usage(prompt_tokens=1, completion_tokens=1), model=self.name
        )

    def close(self):
        """Nothing is open."""


def open_model(spec):
    """Called once for each run, with name, base_url, api_key, temperature, max_output_tokens, read_timeout_s."""
    return Parrot(spec)
