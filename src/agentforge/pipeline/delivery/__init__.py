"""The delivery: the commit, its report, and the attestation of both."""
