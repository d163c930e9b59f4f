"""The sizes above which files are not read, and why they are where they are."""

# Larger files are data or generated, and parsing holds several copies in memory.
SOURCE_BYTES = 4_000_000
# Larger text that isn't code is data, of which words say nothing.
TEXT_BYTES = 500_000
# A person writes no prompts of that size.
PROMPT_MODULE_BYTES = 2_000_000
# Some 4,000 prompts; each node becomes objects that every query goes through.
PROMPT_MODULE_NODES = 250_000
# Parsers of TOML take a second for so much, and people write a hundredth of it.
SETTINGS_BYTES = 1 << 20
VALUES_BYTES = 1 << 20
# Some hundred bytes for each section of a project.
BASELINE_BYTES = 64 << 20
# The longest ignore files in wide use have a hundredth of it, and each query reads them again.
IGNORE_BYTES = 1 << 20
# A repository of 400,000 files has an index of 50 MB.
INDEX_BYTES = 64 << 20
# Each path is matched against all patterns of the folders above it.
IGNORE_PATTERNS = 5_000
# Compiling so many takes seconds.
IGNORE_PATTERNS_IN_ALL = 20_000
# Each lets a match go back once more, and a person's pattern has one or two.
IGNORE_WILDCARDS_IN_ALL = 10_000
# No path is longer.
IGNORE_PATTERN_CHARACTERS = 4_096
# The standard library's parser of TOML takes time quadratic in the parts of a dotted key.
KEY_PARTS = 32
