"""Wire formats of other services, each a thin translation to submissions of our own."""
