"""Frozen values every layer shares. Nothing here reads, prints, stores or decides."""
