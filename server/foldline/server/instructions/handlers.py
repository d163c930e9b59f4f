"""The list of the features; other requests about instruction files are answered with nothing."""

from __future__ import annotations

from foldline.server.instructions import (
    code_action,
    code_lens,
    completion,
    definition,
    diagnostic,
    document_link,
    document_symbol,
    folding_range,
    hover,
    inlay_hint,
    references,
)

_FEATURES = (
    code_action,
    code_lens,
    completion,
    definition,
    diagnostic,
    document_link,
    document_symbol,
    folding_range,
    hover,
    inlay_hint,
    references,
)
HANDLERS = {feature.METHOD: feature.handle for feature in _FEATURES}
