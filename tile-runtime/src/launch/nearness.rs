//! Whether two results are the same but for the order in which sums were made.

use half::{bf16, f16};
use tile_ir::dtype::DType;

/// How far an element may be from what is expected, as a part of the largest expected
/// one: what sums of some thousand terms differ by, with room to spare. `None` of types
/// whose sums do not depend on the order.
fn tolerance(dtype: DType) -> Option<f64> {
    match dtype {
        DType::F64 => Some(f64::powi(2.0, -40)),
        DType::F32 => Some(f64::powi(2.0, -14)),
        DType::F16 => Some(f64::powi(2.0, -9)),
        DType::BF16 => Some(f64::powi(2.0, -6)),
        DType::I8
        | DType::U8
        | DType::I16
        | DType::U16
        | DType::I32
        | DType::U32
        | DType::I64
        | DType::U64
        | DType::Bool => None,
    }
}

/// Whether elements are near enough to those that are expected. Both have as many
/// bytes, in the machine's order.
pub(super) fn are_near(dtype: DType, found: &[u8], expected: &[u8]) -> bool {
    let Some(tolerance) = tolerance(dtype) else { return found == expected };
    let n_bytes = dtype.size_bytes() as usize;
    let values = |bytes: &[u8]| -> Vec<f64> {
        bytes.chunks_exact(n_bytes).map(|elem| value(dtype, elem)).collect()
    };
    let (found, expected) = (values(found), values(expected));
    let finite = expected.iter().filter(|value| value.is_finite());
    let largest = finite.fold(0.0, |most: f64, value| most.max(value.abs()));
    let is_near = |(found, expected): (&f64, &f64)| {
        found.to_bits() == expected.to_bits()
            || (found.is_nan() && expected.is_nan())
            || (found - expected).abs() <= tolerance * largest
    };
    found.len() == expected.len() && found.iter().zip(&expected).all(is_near)
}

fn value(dtype: DType, elem: &[u8]) -> f64 {
    let mut word = [0; 8];
    word[..elem.len()].copy_from_slice(elem);
    match dtype {
        DType::F64 => f64::from_ne_bytes(word),
        DType::F32 => f64::from(f32::from_ne_bytes([word[0], word[1], word[2], word[3]])),
        DType::F16 => f64::from(f16::from_ne_bytes([word[0], word[1]])),
        DType::BF16 => f64::from(bf16::from_ne_bytes([word[0], word[1]])),
        DType::I8
        | DType::U8
        | DType::I16
        | DType::U16
        | DType::I32
        | DType::U32
        | DType::I64
        | DType::U64
        | DType::Bool => f64::NAN,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(found: &[f32], expected: &[f32]) -> bool {
        let bytes =
            |values: &[f32]| values.iter().flat_map(|v| v.to_ne_bytes()).collect::<Vec<_>>();
        are_near(DType::F32, &bytes(found), &bytes(expected))
    }

    #[test]
    fn sums_in_another_order_are_near_and_others_are_not() {
        let (nan, inf) = (f32::NAN, f32::INFINITY);
        assert!(check(&[100.0, 1e-3], &[100.001, 0.0]));
        assert!(!check(&[100.0, 0.01], &[100.001, 0.0]));
        assert!(check(&[nan, inf, 1.0], &[nan, inf, 1.0]));
        assert!(!check(&[nan, 1.0], &[1.0, 1.0]));
        assert!(!check(&[inf, 1.0], &[1.0, 1.0]));
        assert!(!check(&[1.0], &[inf]));
        assert!(check(&[], &[]));
        assert!(!check(&[1e-9], &[0.0]));
    }

    #[test]
    fn integers_are_equal_or_not() {
        assert!(are_near(DType::I32, &[1, 0, 0, 0], &[1, 0, 0, 0]));
        assert!(!are_near(DType::I32, &[1, 0, 0, 0], &[2, 0, 0, 0]));
        let halves = |value: f32| f16::from_f32(value).to_ne_bytes();
        assert!(are_near(DType::F16, &halves(1.0), &halves(1.001)));
        assert!(!are_near(DType::F16, &halves(1.0), &halves(1.01)));
        assert!(are_near(DType::F64, &1.0f64.to_ne_bytes(), &(1.0 + 1e-14f64).to_ne_bytes()));
    }
}
