"""One module for each noun of the contract. May import `api` and what it may import."""
