"""The fold from events to state, one module for each aspect."""
