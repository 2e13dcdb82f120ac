"""The examiner: a second reader of the request, its examples, and how they are settled."""
