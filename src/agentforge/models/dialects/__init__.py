"""Wire formats of providers: requests, replies, tool calls and refusals."""
