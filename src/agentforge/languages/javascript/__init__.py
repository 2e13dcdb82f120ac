"""JavaScript and TypeScript: projects, scripts, runners, failures, stubs, values, and reading their source."""
