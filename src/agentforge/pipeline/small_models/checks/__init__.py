"""Checks of a candidate against its neighbours: boundary cases, agreement of outputs, bias towards the examples."""
