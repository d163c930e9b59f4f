"""The version of foldline, for the package and for whoever asks a running one."""

VERSION = "0.1.0"
