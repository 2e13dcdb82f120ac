"""An API that books the meeting rooms of one house."""
