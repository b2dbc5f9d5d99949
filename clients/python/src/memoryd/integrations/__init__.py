"""Adapters of frameworks, one module each; a module needs its framework to be installed."""
