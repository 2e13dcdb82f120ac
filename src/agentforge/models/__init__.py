"""Models: two wire dialects, retries, fallback, scripted and recorded models, prices, the catalogue of providers."""
