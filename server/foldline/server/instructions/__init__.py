"""LSP features of instruction files, a module for each method, like `features` of prompt modules.

`HANDLERS` lists them; other requests about these files are answered with nothing.
"""

from __future__ import annotations

from foldline.server.instructions import (
    code_lens,
    diagnostic,
    document_symbol,
    folding_range,
    hover,
    inlay_hint,
    selection_range,
)

HANDLERS = {
    feature.METHOD: feature.handle
    for feature in (
        code_lens,
        diagnostic,
        document_symbol,
        folding_range,
        hover,
        inlay_hint,
        selection_range,
    )
}
from foldline.server.instructions import code_action, document_symbol

HANDLERS = {feature.METHOD: feature.handle for feature in (code_action, document_symbol)}
from foldline.server.instructions import definition, document_link, document_symbol, hover

_FEATURES = (definition, document_link, document_symbol, hover)
HANDLERS = {feature.METHOD: feature.handle for feature in _FEATURES}
