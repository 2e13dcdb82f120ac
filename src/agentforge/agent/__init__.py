"""The one agent loop: decide what comes next (pure), perform it, record it. Serves pipeline steps and chat turns alike."""
