"""The dialogs of the application: choose, type, read. Escape leaves each."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding
from textual.containers import Vertical, VerticalScroll
from textual.screen import ModalScreen
from textual.widgets import Input, Label, OptionList, Static
from textual.widgets.option_list import Option

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.text import Text
    from textual.app import ComposeResult
    from textual.binding import BindingType

STYLE = """
ModalScreen { align: center middle; }
ModalScreen > Vertical {
    width: 90%; max-width: 110; height: auto; max-height: 90%;
    border: round $accent; padding: 0 1; background: $surface;
}
ModalScreen Label { text-style: bold; }
ModalScreen VerticalScroll { height: auto; max-height: 30; }
"""


class Choose(ModalScreen[str | None]):
    """A list; returns the id of the chosen row, or None."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "dismiss(None)", "Back")]

    def __init__(self, title: str, rows: Sequence[tuple[str, Text]]) -> None:
        super().__init__()
        self._title = title
        self._rows = rows

    def compose(self) -> ComposeResult:
        with Vertical():
            yield Label(self._title, markup=False)
            yield OptionList(*(Option(text, f"row-{n}") for n, (_, text) in enumerate(self._rows)))

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        self.dismiss(self._rows[event.option_index][0])


class Ask(ModalScreen[str | None]):
    """A line to type; returns its text, or None."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "dismiss(None)", "Back")]

    def __init__(self, title: str, text: str = "", hint: str = "") -> None:
        super().__init__()
        self._title = title
        self._text = text
        self._hint = hint

    def compose(self) -> ComposeResult:
        with Vertical():
            yield Label(self._title, markup=False)
            yield Input(self._text, placeholder=self._hint)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        self.dismiss(event.value)


class Read(ModalScreen[None]):
    """A text to read."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,enter", "dismiss(None)", "Back"),
    ]

    def __init__(self, title: str, text: Text) -> None:
        super().__init__()
        self._title = title
        self._text = text

    def compose(self) -> ComposeResult:
        with Vertical():
            yield Label(self._title, markup=False)
            with VerticalScroll():
                yield Static(self._text)
