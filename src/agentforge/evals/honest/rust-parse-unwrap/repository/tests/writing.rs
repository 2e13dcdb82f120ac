#[test]
fn writes() {
    assert_eq!(sizes::write_size(3), "3 bytes");
}
