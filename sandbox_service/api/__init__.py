"""The HTTP surface. May import `queue` and below; never what runs code."""
