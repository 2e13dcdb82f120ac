"""Commands about the code of the repository: what checks and contracts say of it, and how it is changed without a request."""
