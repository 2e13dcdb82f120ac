"""Contracts: what an artifact must look like and which rules must hold before the next stage sees it. Pure."""
