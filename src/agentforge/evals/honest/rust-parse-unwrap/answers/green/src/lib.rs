//! Sizes of files.

/// Read a size such as 12k or 7; None for anything else.
pub fn parse_size(text: &str) -> Option<u64> {
    match text.strip_suffix('k') {
        Some(number) => number.parse::<u64>().ok()?.checked_mul(1024),
        None => text.parse().ok(),
    }
}

/// Write a size in bytes.
pub fn write_size(bytes: u64) -> String {
    format!("{bytes} bytes")
}
