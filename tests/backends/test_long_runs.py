"""Sources with long runs of one character: in time that grows with their square, hours each."""

import pytest

from foldline.backends.outlines.outlines import outline_source
from foldline.backends.parsers.strings import doc_above, one_line

RUN = 1_000_000


@pytest.mark.parametrize("run", ["\t", "*", "/", " *"])
def test_the_comment_above_a_definition_is_read(run: str) -> None:
    source = f"// a{run * (RUN // len(run))}b\nfunction f() {{}}\n".encode()
    doc = doc_above(source, source.rindex(b"function"))
    assert doc is not None
    assert doc.startswith("a")
    assert doc.endswith("b")


@pytest.mark.parametrize(
    ("comment", "doc"),
    [("/** A b. */", "A b."), ("/* A b. **/", "A b."), ("/** A * b * */", "A * b *")],
)
def test_the_end_of_a_comment_is_no_part_of_its_text(comment: str, doc: str) -> None:
    source = f"{comment}\nfunction f() {{}}\n".encode()
    assert doc_above(source, source.rindex(b"function")) == doc


@pytest.mark.parametrize("quote", ['"', "'"])
def test_a_python_signature_with_quotes_that_nothing_ends_is_one_line(quote: str) -> None:
    source = "def f(a=" + f"\\{quote}" * (RUN // 2) + ",  # A.\n  b=1)"
    assert one_line(source.encode()).endswith(f"\\{quote}, # A. b=1)")


@pytest.mark.parametrize("quote", ['"', "'", "`"])
def test_a_regular_expression_of_quotes_is_a_default_of_javascript(quote: str) -> None:
    text = f"\\{quote}" * 200_000
    outline = outline_source("javascript", f"function f(a = /{text}/) {{}}\n".encode())
    assert [symbol.name for symbol in outline.symbols] == ["f"]
