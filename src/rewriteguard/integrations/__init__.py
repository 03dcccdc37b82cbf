"""Adapters for frameworks. Each loads its framework; the package itself never loads them."""
