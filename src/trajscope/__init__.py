"""trajscope: what an agent did, whether it was right, and whether it did what it must never do."""
