"""One file per foreign wire format."""
