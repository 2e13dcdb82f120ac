"""The stage of the workflow that splits a request over repositories; its order is in `pipeline.stages`."""
