"""Sample values for a prompt's variables, with which every part is both shown and hidden."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from random import Random
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from jinja2 import Environment, nodes

    from foldline.ide.adopt.model import Guess

COUNT = 24
"""The number of sets of values."""

TEXTS = (
    "text",
    "two words",
    "$amount ${name} $$ {brace} {{ name }} {% if x %} {# no #}",
    "",
    "naïve café 漢字 🙂",
    "# Heading",
    'it\'s "quoted" \\n %s',
    "<tag>&amp;</tag>",
)
LINES = ("first line\nsecond line", "one\n\n  three\n")

_TEXT_METHODS = {"upper", "lower", "strip", "title", "capitalize", "replace", "split", "format"}
_LIST_FILTERS = {"sort", "reverse", "list", "unique", "select", "reject", "slice", "batch"}
_ITEM_FILTERS = {"first", "last", "random", "min", "max"}
_NUMBER_FILTERS = {"round", "abs", "int", "float", "filesizeformat", "sum"}


@dataclass(slots=True)
class Shape:
    """The use of a variable in a template."""

    attributes: dict[str, Shape] = field(default_factory=dict)
    item: Shape | None = None
    is_mapping: bool = False
    is_number: bool = False
    scalar: str = ""
    """A type that is known from elsewhere."""
    is_shown: bool = False
    is_tested: bool = False
    returns: Shape | None = None
    constants: list[object] = field(default_factory=list)
    pair: tuple[Shape, ...] = ()


def text_value(place: int, kind: str, random: Random, *, lines: bool) -> Any:
    """Return a value of a type, for the set of values at a place."""
    if kind == "bool":
        return place == 0 or (place > 1 and random.random() < 0.5)
    if kind == "int":
        return 3 if place == 0 else 0 if place == 1 else random.randint(-2, 40)
    if kind == "float":
        return 2.5 if place == 0 else 0.0 if place == 1 else random.randint(-20, 400) / 8
    pool = (*TEXTS, *LINES) if lines else TEXTS
    return pool[0] if place == 0 else "" if place == 1 else random.choice(pool)


def contexts(
    known: Environment, source: str, guesses: Mapping[str, Guess], *, lines: bool
) -> list[dict[str, Any]]:
    """Return values for a Jinja template's variables, as JSON for `sandbox.py`."""
    shapes = shapes_of(known, source)
    for name, guess in guesses.items():
        if name in shapes and guess.type in ("int", "float", "bool"):
            shapes[name].scalar = guess.type
    found = []
    for place in range(COUNT):
        random = Random(place)
        found.append(
            {
                name: _value(shape, place, random, lines=lines)
                for name, shape in sorted(shapes.items())
            }
        )
    return found


def shapes_of(known: Environment, source: str) -> dict[str, Shape]:
    """Return the use of each variable that a template takes."""
    # Not Jinja's `meta`: it evaluates constant expressions, which may take any time and memory.
    shapes = _Shapes()
    shapes.visit(known.parse(source), {})
    hidden = {*known.globals, "loop"}
    return {name: shape for name, shape in shapes.roots.items() if name not in hidden}


def _value(shape: Shape, place: int, random: Random, *, lines: bool, depth: int = 0) -> Any:
    if depth > 8:
        return "deep"
    inner = partial(_value, random=random, lines=lines, depth=depth + 1)
    if shape.returns is not None:
        return {"call": inner(shape.returns, place)}
    if shape.pair:
        return [inner(part, place) for part in shape.pair]
    if shape.is_mapping or shape.item is not None:
        count = 2 if place == 0 else 0 if place == 1 else random.choice((0, 1, 2, 3))
        item = shape.item or Shape(is_shown=True)
        items = [inner(item, place or number) for number in range(count)]
        if shape.is_mapping:
            return {"map": [[f"key {number}", value] for number, value in enumerate(items)]}
        return items
    if shape.attributes:
        return {
            "record": {name: inner(part, place) for name, part in sorted(shape.attributes.items())}
        }
    if shape.scalar:
        return text_value(place, shape.scalar, random, lines=lines)
    if shape.constants and (place == 0 or random.random() < 0.6):
        value = shape.constants[0] if place == 0 else random.choice(shape.constants)
        if isinstance(value, int | float) and not isinstance(value, bool):
            return value + (0 if place == 0 else random.choice((-1, 0, 1)))
        return value
    numbers = [value for value in shape.constants if isinstance(value, int | float)]
    if shape.is_number or numbers:
        return text_value(place, "int", random, lines=lines)
    if shape.is_tested and not shape.is_shown and not shape.constants:
        return text_value(place, "bool", random, lines=lines)
    return text_value(place, "str", random, lines=lines)


@dataclass(slots=True)
class _Shapes:
    roots: dict[str, Shape] = field(default_factory=dict)

    def visit(  # noqa: PLR0912 - A table of nodes.
        self, node: nodes.Node, scope: dict[str, Shape]
    ) -> None:
        from jinja2 import nodes

        if isinstance(node, nodes.For):
            self._for(node, scope)
            return
        if isinstance(node, nodes.Output):
            for part in node.nodes:
                if (shape := self.shape(part, scope)) is not None:
                    shape.is_shown = True
        elif isinstance(node, nodes.If | nodes.CondExpr):
            self._tested(node.test, scope)
        elif isinstance(node, nodes.Not):
            self._tested(node.node, scope)
        elif isinstance(node, nodes.And | nodes.Or):
            self._tested(node.left, scope)
            self._tested(node.right, scope)
        elif isinstance(node, nodes.Compare):
            self._compare(node, scope)
        elif isinstance(node, nodes.Filter | nodes.Call | nodes.Getattr | nodes.Getitem):
            self.shape(node, scope)
        elif isinstance(node, nodes.BinExpr):
            for part in (node.left, node.right):
                shape = self.shape(part, scope)
                if shape is not None and not isinstance(node, nodes.Concat | nodes.Add):
                    shape.is_number = True
        for child in node.iter_child_nodes():
            self.visit(child, scope)

    def shape(self, node: nodes.Node | None, scope: dict[str, Shape]) -> Shape | None:
        """Return the shape of an expression; None for a constant and such."""
        from jinja2 import nodes

        if isinstance(node, nodes.Name):
            return scope.get(node.name) or self.roots.setdefault(node.name, Shape())
        if isinstance(node, nodes.Getattr):
            owner = self.shape(node.node, scope)
            return None if owner is None else owner.attributes.setdefault(node.attr, Shape())
        if isinstance(node, nodes.Getitem):
            return self._item(node, scope)
        if isinstance(node, nodes.Call):
            return self._called(node, scope)
        if isinstance(node, nodes.Filter):
            return self._filtered(node, scope)
        if isinstance(node, nodes.Test):
            inner = self.shape(node.node, scope)
            if inner is not None and not inner.attributes:
                inner.is_tested = True
            return None
        if isinstance(node, nodes.And | nodes.Or):
            return self.shape(node.left, scope) or self.shape(node.right, scope)
        if isinstance(node, nodes.CondExpr):
            return self.shape(node.expr1, scope)
        return None

    def _item(self, node: nodes.Getitem, scope: dict[str, Shape]) -> Shape | None:
        from jinja2 import nodes

        owner = self.shape(node.node, scope)
        if owner is None:
            return None
        if isinstance(node.arg, nodes.Const) and isinstance(node.arg.value, str):
            return owner.attributes.setdefault(node.arg.value, Shape())
        if isinstance(node.arg, nodes.Slice):
            return owner
        owner.item = owner.item or Shape()
        return owner.item

    def _called(self, node: nodes.Call, scope: dict[str, Shape]) -> Shape | None:
        from jinja2 import nodes

        if isinstance(node.node, nodes.Getattr):
            owner = self.shape(node.node.node, scope)
            name = node.node.attr
            if owner is None:
                return None
            if name in ("items", "keys", "values", "get"):
                owner.is_mapping = True
                owner.item = owner.item or Shape(is_shown=True)
                return Shape(item=Shape(pair=(Shape(is_shown=True), owner.item)))
            if name in _TEXT_METHODS:
                owner.is_shown = True
                return Shape(item=Shape())
            owner = owner.attributes.setdefault(name, Shape())
        else:
            owner = self.shape(node.node, scope)
        if owner is None:
            return None
        owner.returns = owner.returns or Shape()
        return owner.returns

    def _filtered(self, node: nodes.Filter, scope: dict[str, Shape]) -> Shape | None:
        from jinja2 import nodes

        inner = self.shape(node.node, scope)
        if inner is None:
            return None
        if node.name in _LIST_FILTERS:
            return inner
        if node.name in _ITEM_FILTERS:
            inner.item = inner.item or Shape()
            return inner.item
        if node.name == "join":
            inner.item = inner.item or Shape(is_shown=True)
            attribute = next((word.value for word in node.kwargs if word.key == "attribute"), None)
            if isinstance(attribute, nodes.Const):
                inner.item.attributes.setdefault(str(attribute.value), Shape(is_shown=True))
            return None
        if node.name in ("map", "selectattr", "rejectattr", "groupby"):
            inner.item = inner.item or Shape()
            names = [word.value for word in node.kwargs if word.key == "attribute"]
            names += node.args[:1] if node.name != "map" else []
            for name in names:
                if isinstance(name, nodes.Const):
                    part = inner.item.attributes.setdefault(str(name.value), Shape())
                    return Shape(item=part) if node.name == "map" else inner
            return inner
        if node.name in _NUMBER_FILTERS:
            inner.is_number = True
            return None
        # Assume a text: it has a length, and most filters take it.
        inner.is_shown = True
        return None if node.name in ("length", "count", "tojson") else inner

    def _tested(self, node: nodes.Node, scope: dict[str, Shape]) -> None:
        shape = self.shape(node, scope)
        if shape is not None:
            shape.is_tested = True

    def _compare(self, node: nodes.Compare, scope: dict[str, Shape]) -> None:
        from jinja2 import nodes

        shape = self.shape(node.expr, scope)
        for operand in node.ops:
            other = operand.expr
            constants = other.items if isinstance(other, nodes.List | nodes.Tuple) else [other]
            for constant in constants:
                if not isinstance(constant, nodes.Const) or shape is None:
                    continue
                if constant.value is not None and not isinstance(constant.value, bool):
                    shape.constants.append(constant.value)
            inner = self.shape(other, scope)
            if operand.op in ("in", "notin") and inner is not None:
                inner.item = inner.item or Shape(is_shown=True)

    def _for(self, node: nodes.For, scope: dict[str, Shape]) -> None:
        from jinja2 import nodes

        inner = dict(scope)
        shape = self.shape(node.iter, scope)
        if shape is not None:
            shape.item = shape.item or Shape()
            if isinstance(node.target, nodes.Name):
                inner[node.target.name] = shape.item
            elif isinstance(node.target, nodes.Tuple):
                names = [name for name in node.target.items if isinstance(name, nodes.Name)]
                if len(shape.item.pair) != len(names):
                    shape.item.pair = tuple(Shape(is_shown=True) for _ in names)
                for name, part in zip(names, shape.item.pair, strict=True):
                    inner[name.name] = part
        else:
            for name in node.target.find_all(nodes.Name):
                inner[name.name] = Shape()
            if isinstance(node.target, nodes.Name):
                inner[node.target.name] = Shape()
        inner["loop"] = Shape()
        self.visit(node.iter, scope)
        if node.test is not None:
            self._tested(node.test, inner)
            self.visit(node.test, inner)
        for child in (*node.body, *node.else_):
            self.visit(child, inner)
