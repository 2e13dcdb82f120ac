"""The stages of the workflow that repairs violations, one file each; their order is in `pipeline.stages`."""
