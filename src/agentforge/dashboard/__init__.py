"""The dashboard: tasks of many repositories in a browser, from the same use cases as the command line."""
