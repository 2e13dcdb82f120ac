"""What differs between programming languages: runners, failures, stubs, values and source, one package each."""
