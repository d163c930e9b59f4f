"""`code.readLines`: an exact range of lines."""

from foldline.backends.formatting.text import file_lines
from foldline.ide.operations.arguments import LinesArguments
from foldline.ide.operations.operation import Operation, method_of_access

OPERATION = Operation(
    "code.readLines",
    "show some lines of a file",
    LinesArguments,
    method_of_access(lambda access: access.read_text),
    lambda page, _: file_lines(page),
    tool="read_lines",
    description="Read the lines start to end of a file, counted from 1.",
    verb="lines",
    found=lambda page: page.end >= page.start,
    whole=True,
)
