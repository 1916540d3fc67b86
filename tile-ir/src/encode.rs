//! The bytes that the macro embeds in the user's binary, and their validation.
//!
//! Layout: [`FORMAT_VERSION`] (4 bytes), a checksum of the rest (8 bytes), the
//! kernel in postcard's encoding. Numbers are little-endian.

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::check::{CheckedKernel, UncheckedKernel};
use crate::kernel::{Kernel, verify_kernel};

/// The format of the bytes. It changes with every change to what a
/// [`CheckedKernel`] holds.
pub const FORMAT_VERSION: u32 = 13;

/// What the version of a kernel has beside it that no check has passed.
const UNCHECKED: u32 = 1 << 31;

/// Why bytes are not a checked kernel of this version.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DecodeError {
    /// They were written by another version of the macro.
    #[error(
        "kernel data has format {found}, this tile-runtime reads {expected}: tile-macros and tile-runtime must be of one version"
    )]
    Version {
        /// The format of this version.
        expected: u32,
        /// What the bytes say.
        found: u32,
    },
    /// They are not an encoded kernel.
    #[error("kernel data is damaged: {0}")]
    Damaged(String),
}

/// Encodes a checked kernel.
pub fn encode(kernel: &CheckedKernel) -> Vec<u8> {
    encode_as(FORMAT_VERSION, kernel)
}

/// Encodes a kernel that no check has passed; [`decode`] does not take it.
pub fn encode_unchecked(kernel: &UncheckedKernel) -> Vec<u8> {
    encode_as(FORMAT_VERSION | UNCHECKED, kernel)
}

fn encode_as(version: u32, kernel: &impl Serialize) -> Vec<u8> {
    // Only a map or sequence of unknown length cannot be encoded, and a kernel
    // has none; if it had, decoding would report the missing data.
    let payload = postcard::to_stdvec(kernel).unwrap_or_default();
    let mut bytes = version.to_le_bytes().to_vec();
    bytes.extend(checksum(&payload).to_le_bytes());
    bytes.extend(payload);
    bytes
}

/// Decodes and validates what [`encode`] wrote.
///
/// # Errors
///
/// Where the bytes are of another format version or do not form a valid kernel.
pub fn decode(bytes: &[u8]) -> Result<CheckedKernel, DecodeError> {
    decode_as(FORMAT_VERSION, bytes, CheckedKernel::kernel)
}

/// Decodes and validates what [`encode_unchecked`] wrote.
///
/// # Errors
///
/// As [`decode`].
pub fn decode_unchecked(bytes: &[u8]) -> Result<UncheckedKernel, DecodeError> {
    decode_as(FORMAT_VERSION | UNCHECKED, bytes, UncheckedKernel::kernel)
}

fn decode_as<K: DeserializeOwned>(
    expected: u32,
    bytes: &[u8],
    kernel_of: impl Fn(&K) -> &Kernel,
) -> Result<K, DecodeError> {
    let too_short = || DecodeError::Damaged("it ends too early".to_owned());
    let (version, rest) = bytes.split_first_chunk().ok_or_else(too_short)?;
    let found = u32::from_le_bytes(*version);
    if found != expected {
        return Err(DecodeError::Version { expected, found });
    }
    let (sum, payload) = rest.split_first_chunk().ok_or_else(too_short)?;
    if u64::from_le_bytes(*sum) != checksum(payload) {
        return Err(DecodeError::Damaged("its checksum does not match".to_owned()));
    }
    let (kernel, rest): (K, &[u8]) = postcard::take_from_bytes(payload)
        .map_err(|error| DecodeError::Damaged(error.to_string()))?;
    if !rest.is_empty() {
        return Err(DecodeError::Damaged(format!("{} bytes follow its end", rest.len())));
    }
    verify_kernel(kernel_of(&kernel)).map_err(|faults| {
        let rules: Vec<String> = faults.iter().map(ToString::to_string).collect();
        DecodeError::Damaged(rules.join("; "))
    })?;
    Ok(kernel)
}

/// FNV-1a in 64 bits (Fowler, Noll and Vo). A change of one byte always changes it.
fn checksum(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |sum, byte| {
        (sum ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}
