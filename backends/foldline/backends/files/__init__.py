"""Files below a workspace root: boundary, ignore rules, encodings, overlays, the tree."""
