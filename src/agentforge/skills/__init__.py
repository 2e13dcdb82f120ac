"""Skills: folders with a SKILL.md that tells an agent how a kind of work is done. Found, checked and matched; never run."""
