"""What the harness mends or drops in a draft before it measures and judges: one file for the drafts of a stage, and the table."""
