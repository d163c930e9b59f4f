"""The errors: their tree, their fields, and that they survive a process boundary."""

import pickle

import pytest

from foldline.prompts import errors
from foldline.prompts.errors import (
    ExpansionLimitError,
    OutputParseError,
    PromptConfigurationError,
    PromptError,
    PromptEvaluationError,
    PromptRenderError,
    PromptValidationError,
    ToolValidationError,
    VisibilityExpansionRequired,
)


def test_every_error_is_a_prompt_error() -> None:
    for kind in (
        PromptValidationError,
        PromptConfigurationError,
        PromptRenderError,
        PromptEvaluationError,
        ExpansionLimitError,
        OutputParseError,
        ToolValidationError,
        VisibilityExpansionRequired,
    ):
        assert issubclass(kind, PromptError)
    assert not issubclass(VisibilityExpansionRequired, PromptEvaluationError)
    assert issubclass(PromptConfigurationError, PromptValidationError)


def test_the_tree_in_the_docstring_is_the_tree() -> None:
    assert errors.__doc__ is not None
    for name in errors.__all__:
        if name[0].isupper():
            assert name in errors.__doc__


@pytest.mark.parametrize("kind", [PromptValidationError, OutputParseError, ToolValidationError])
def test_errors_of_input_are_value_errors(kind: type[PromptError]) -> None:
    assert issubclass(kind, ValueError)


def test_errors_survive_pickling_with_their_fields() -> None:
    error = PromptValidationError(
        "wrong", section_path=("a", "b"), placeholder="p", dataclass_type=int, near=["q"]
    )
    copied = pickle.loads(pickle.dumps(error))
    assert type(copied) is PromptValidationError
    assert str(copied) == "wrong"
    assert (copied.section_path, copied.placeholder, copied.dataclass_type, copied.near) == (
        ("a", "b"),
        "p",
        int,
        ("q",),
    )
    parse_error = OutputParseError("bad", raw_response="raw", json_path="$.x")
    copied_parse = pickle.loads(pickle.dumps(parse_error))
    assert (copied_parse.raw_response, copied_parse.json_path) == ("raw", "$.x")
