"""The document and prompt of requests without arguments."""

from dataclasses import dataclass, field


@dataclass(slots=True)
class Focus:
    """The document last opened, edited or asked about, and the prompt last shown of each."""

    uri: str | None = None
    prompt_names: dict[str, str] = field(default_factory=dict)

    def document(self, uri: str) -> None:
        """Move to a document."""
        self.uri = uri

    def prompt(self, uri: str, name: str) -> None:
        """Move to a prompt of a document."""
        self.uri = uri
        self.prompt_names[uri] = name

    def forget(self, uri: str) -> None:
        """Leave a document that was closed."""
        self.prompt_names.pop(uri, None)
        if self.uri == uri:
            self.uri = None
