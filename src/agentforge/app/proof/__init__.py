"""Evidence about runs: verification, bundles, audits and signing keys."""
