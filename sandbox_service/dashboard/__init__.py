"""One live page. May import `queue` and below."""
