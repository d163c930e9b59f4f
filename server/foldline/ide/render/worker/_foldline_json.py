"""JSON as the standard library writes it, whatever the user's code makes of that library."""

from importlib.util import find_spec, module_from_spec


def _private_encoder():  # type: ignore[no-untyped-def]
    """A second `json.encoder`, which no other module can import, and so none can change."""
    spec = find_spec("json.encoder")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.JSONEncoder()


_ENCODER = _private_encoder()  # type: ignore[no-untyped-call]  # The same.


def encoded(value: object) -> bytes:
    """The value as JSON on one line.

    Raises:
        TypeError, ValueError: It cannot be written as JSON.
    """
    return str(_ENCODER.encode(value)).encode()
