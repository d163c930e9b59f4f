"""The version of foldline."""

VERSION = "0.1.0"
