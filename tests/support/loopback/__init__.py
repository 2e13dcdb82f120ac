"""Servers on 127.0.0.1: a provider of models, an inbox, a forge, and what the strictest provider refuses."""
