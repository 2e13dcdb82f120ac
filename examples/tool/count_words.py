"""A tool that counts the words of a file. The file's name is free; the tool's name is what the model calls."""

from agentforge.tools.base import TEXT, Observation, Tool, takes


def count(arguments, context):
    """Count. `context.root` is the workspace; nothing outside of it is opened."""
    path = (context.root / str(arguments["path"])).resolve()
    if not path.is_relative_to(context.root.resolve()) or not path.is_file():
        return Observation(status="error", summary=f"there is no file {arguments['path']}", error_type="not_found")
    words = len(path.read_text("utf-8", errors="replace").split())
    return Observation(status="success", summary=f"{arguments['path']} has {words} words")


TOOL = Tool(
    name="count_words",
    description="Count the words of a file.",
    parameters=takes("path", path=TEXT),
    effect="read",  # read tools are offered in plan mode, too, and are not asked about
    run=count,
)
