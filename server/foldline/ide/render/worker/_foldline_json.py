"""A JSON encoder that the user's code can't change."""

from importlib.util import find_spec, module_from_spec


def _private_encoder():  # type: ignore[no-untyped-def]
    """Return an encoder of a second `json.encoder` module that no other module can import."""
    spec = find_spec("json.encoder")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.JSONEncoder()


_ENCODER = _private_encoder()  # type: ignore[no-untyped-call]  # The same.


def encoded(value: object) -> bytes:
    """Encode the value as one line of JSON.

    Raises:
        TypeError, ValueError: JSON can't represent it.
    """
    return str(_ENCODER.encode(value)).encode()
