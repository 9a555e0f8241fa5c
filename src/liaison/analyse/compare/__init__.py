"""Formalisms and parametrizations compared and proved equal."""
