"""The named rules, one file per family. `contracts.rules` is the only way in."""
