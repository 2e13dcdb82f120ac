"""Commands that serve others: the browser, editors, and other agents."""
