"""What this machine has, what is missing, and how to get it.

May import everything below the command line; changes nothing.
"""
