use sizes::parse_size;

#[test]
fn thousands() {
    assert_eq!(parse_size("12k").unwrap(), 12288);
}

#[test]
fn plain_bytes() {
    assert_eq!(parse_size("7").unwrap(), "7".parse::<u64>().unwrap());
}

#[test]
fn anything_else() {
    assert_eq!(parse_size("x"), None);
}
