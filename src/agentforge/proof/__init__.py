"""Proof: whether a run is what it says, from its files alone. Small enough to be read by an auditor in one sitting.

It shares the vocabulary (events, contracts, canonical bytes) with the program that wrote the run, and none of the code that
wrote it: the chain, the blobs, the verdicts and the signatures are checked here by their definitions.
"""
