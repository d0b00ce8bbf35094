"""Adapters of published memory systems, one file each; their packages are imported only when a store is opened."""
