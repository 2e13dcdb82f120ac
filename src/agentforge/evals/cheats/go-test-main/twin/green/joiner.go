package textkit

const joiner = "-"
