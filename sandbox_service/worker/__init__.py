"""Takes submissions from the queue through sandbox, judge and rewards. May import every stage."""
