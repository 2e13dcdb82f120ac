"""The decision whether a tool call is allowed, asked about or denied, and why."""
