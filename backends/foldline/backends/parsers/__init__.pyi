from foldline.backends.parsers.documents import DOCUMENT_PARSERS
from foldline.backends.parsers.indentation import outline_by_indentation
from foldline.backends.parsers.python_parser import outline_python
from foldline.backends.parsers.table_parser import parser_of
from foldline.backends.parsers.ts_parser import outline_typescript

__all__ = [
    "DOCUMENT_PARSERS",
    "outline_by_indentation",
    "outline_python",
    "outline_typescript",
    "parser_of",
]
__version__: str
