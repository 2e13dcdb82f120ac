"""Tools of other programs: servers of the Model Context Protocol, over stdio or HTTP, and what they offer."""
