"""What a bash line would do, read from its syntax tree: commands, words, classes; nothing is run and no file is touched."""
