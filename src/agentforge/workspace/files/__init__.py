"""Files of a workspace: reading, writing, searching and patching them."""
