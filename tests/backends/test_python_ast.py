"""Python's own parser, asked by several threads."""

from __future__ import annotations

import gc
import time
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest

from foldline.backends.base.python_ast import parse_expression, parse_module

if TYPE_CHECKING:
    import ast
    from collections.abc import Callable

TEXT = f"[{', '.join(f'a.b{i}(c + {i})' for i in range(400))}]"


@pytest.mark.parametrize("parse", [parse_module, parse_expression])
def test_threads_parse_at_once(
    parse: Callable[[str], ast.AST], request: pytest.FixtureRequest
) -> None:
    def let_another_go_on(phase: str, info: dict[str, int]) -> None:
        if phase == "stop":
            time.sleep(0.0005)

    def below(depth: int) -> None:
        if depth:
            below(depth - 1)
        else:
            parse(TEXT)

    thresholds = gc.get_threshold()
    request.addfinalizer(lambda: gc.set_threshold(*thresholds))
    request.addfinalizer(lambda: gc.callbacks.remove(let_another_go_on))
    gc.callbacks.append(let_another_go_on)
    gc.set_threshold(50)
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(below, (0, 30, 60, 90) * 3))
