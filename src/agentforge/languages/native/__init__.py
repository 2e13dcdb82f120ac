"""What Go, Rust and Java share: reading source without a parser, values of types, and stubs."""
