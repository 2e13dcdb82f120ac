"""Projects with requests and answers, one of each language."""
