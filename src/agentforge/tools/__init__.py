"""What a tool is, and the one way in which a call of a tool is carried out."""
