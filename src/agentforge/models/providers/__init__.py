"""Model providers, one file each: the file name is the provider's registered name. Nothing else lives here."""
