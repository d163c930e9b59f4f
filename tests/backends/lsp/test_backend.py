"""Language servers alone are an analysis backend, without the trees behind them."""

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from foldline.backends import LocalFileBackend
from foldline.backends.errors import LSPUnavailableError, SymbolNotFoundError
from foldline.backends.lsp import LSPBackend

if TYPE_CHECKING:
    from foldline.backends.protocol import MinimalBackend

FILES = {
    "shop.py": "class Till:\n    def pay(self):\n        return 1\n",
    "main.py": "from shop import Till\n\nTill().pay()\n",
}


def test_the_servers_answer_as_an_analysis_backend(tmp_path: Path) -> None:
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    backend = LSPBackend(LocalFileBackend(tmp_path), seconds=60.0, trusted=True, jedi=False)
    analysis: MinimalBackend = backend
    try:
        outline = backend.get_outline("shop.py")
        assert [symbol.name for symbol in outline.symbols] == ["Till"]
        assert [method.name for method in outline.symbols[0].children] == ["pay"]
        assert (outline.line_count, outline.coverage) == (3, "complete")
        detail = analysis.read_symbol("shop.py", "Till.pay")
        assert detail is not None
        assert (detail.parent, detail.line, detail.line_end) == ("Till", 2, 3)
        found = analysis.find_references("Till.pay", "shop.py")
        assert {("main.py", 3), ("shop.py", 2)} >= {(one.path, one.line) for one in found}
        assert any(one.path == "main.py" for one in found)
        with pytest.raises(SymbolNotFoundError):
            analysis.read_symbol("shop.py", "Till.give")
        with pytest.raises(LSPUnavailableError, match="name the defining file"):
            analysis.find_references("pay", None)
        with pytest.raises(LSPUnavailableError, match="open buffers only"):
            backend.get_outline("shop.py", source="x = 1\n")
    finally:
        backend.close()
