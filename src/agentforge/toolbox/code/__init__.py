"""Tools that search the code and change it by its syntax tree."""
