//! Sizes of files.

/// Write a size in bytes.
pub fn write_size(bytes: u64) -> String {
    format!("{bytes} bytes")
}
