"""The conformance engine: sites, findings, violations and the report."""
