//! The embedded bytes: what is written is read back, and damage is an error.

use crate::support;
use tile_ir::check::{CheckedKernel, check_kernel};
use tile_ir::encode::{DecodeError, FORMAT_VERSION, decode, encode};

const ROW_SUMS: &str = "
    /// The sum of each row.
    pub fn row_sums<T: Number>(n: i32, #[pad = 0] a: &Tensor<T, [R, C]>, sums: &mut Tensor<T, [R]>)
    where tile: (TR in pow2(8..=64), TC in [16, 32], W = TR + 2 * TC), grid: (by in tiles(R, TR)), block: (ty in TR),
    {
        shared s: [T; TR, TC];
        let mut sum: Acc<T> = 0;
        phase p in tiles(C, TC) {
            load s[i, j] = a[by * TR + i, p * TC + j];
            barrier;
            for j in 0..TC { sum += s[ty, j]; }
            barrier;
        }
        sums[by * TR + ty] = sum;
    }";

fn checked() -> CheckedKernel {
    match check_kernel(support::resolve(ROW_SUMS)) {
        Ok(checked) => checked.kernel,
        Err(diags) => panic!("{diags:?}"),
    }
}

#[test]
fn what_is_written_is_read_back() {
    let kernel = checked();
    assert_eq!(decode(&encode(&kernel)), Ok(kernel));
}

#[test]
fn equal_kernels_have_equal_bytes() {
    assert_eq!(encode(&checked()), encode(&checked()));
}

#[test]
fn every_truncation_is_an_error() {
    let bytes = encode(&checked());
    for length in 0..bytes.len() {
        assert!(decode(&bytes[..length]).is_err(), "{length} of {} bytes", bytes.len());
    }
}

#[test]
fn every_flipped_bit_is_an_error() {
    let mut bytes = encode(&checked());
    for position in 0..bytes.len() {
        for bit in 0..8 {
            bytes[position] ^= 1 << bit;
            assert!(decode(&bytes).is_err(), "bit {bit} of byte {position}");
            bytes[position] ^= 1 << bit;
        }
    }
}

/// With the checksum put right the damage reaches the decoder and the verifier:
/// whatever they say, they say it without a panic.
#[test]
fn damage_behind_a_right_checksum_does_not_panic() {
    let original = encode(&checked());
    let mut rejected = 0;
    for position in 12..original.len() {
        for flip in [0x01, 0x04, 0x40, 0x80, 0xff] {
            let mut bytes = original.clone();
            bytes[position] ^= flip;
            let sum = bytes[12..].iter().fold(0xcbf2_9ce4_8422_2325_u64, |sum, byte| {
                (sum ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3)
            });
            bytes[4..12].copy_from_slice(&sum.to_le_bytes());
            rejected += usize::from(decode(&bytes).is_err());
        }
    }
    assert!(rejected > original.len(), "only {rejected} were rejected");
}

#[test]
fn another_version_says_so() {
    let mut bytes = encode(&checked());
    bytes[..4].copy_from_slice(&(FORMAT_VERSION + 1).to_le_bytes());
    let error = DecodeError::Version { expected: FORMAT_VERSION, found: FORMAT_VERSION + 1 };
    assert_eq!(decode(&bytes), Err(error));
}
