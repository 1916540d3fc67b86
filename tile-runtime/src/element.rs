//! Element types: which Rust types a tensor holds and a kernel is bound to.

use half::{bf16, f16};
use tile_ir::dtype::DType;
use tile_ir::value::ScalarValue;

mod sealed {
    pub trait Sealed {}
}

/// A type that tensors hold: `bool`, the integers of 8 to 64 bits, `f16`,
/// `bf16`, `f32` and `f64`. Sealed.
pub trait Element:
    sealed::Sealed + Copy + Default + PartialEq + std::fmt::Debug + Send + Sync + 'static
{
    /// The type's name in the kernel language.
    const DTYPE: DType;

    /// The value as a launch argument.
    #[doc(hidden)]
    fn to_scalar(self) -> ScalarValue;
}

/// An integer or floating-point type: has arithmetic and an order. Sealed.
pub trait Number: Element + PartialOrd {}

/// A floating-point type. Sealed.
pub trait Float: Number {}

/// An integer type. Sealed.
pub trait Integer: Number + Ord {}

/// `element!(f32: F32, |x| bits)` makes a type an [`Element`]; the closure gives
/// its bits, zero-extended to 64.
macro_rules! element {
    ($($ty:ty: $dtype:ident, |$value:ident| $bits:expr;)+) => {$(
        impl sealed::Sealed for $ty {}
        impl Element for $ty {
            const DTYPE: DType = DType::$dtype;
            fn to_scalar(self) -> ScalarValue {
                let $value = self;
                ScalarValue { dtype: Self::DTYPE, bits: $bits }
            }
        }
    )+};
}

element! {
    bool: Bool, |x| u64::from(x);
    f16: F16, |x| u64::from(x.to_bits());
    bf16: BF16, |x| u64::from(x.to_bits());
    f32: F32, |x| u64::from(x.to_bits());
    f64: F64, |x| x.to_bits();
    i8: I8, |x| u64::from(x.cast_unsigned());
    u8: U8, |x| u64::from(x);
    i16: I16, |x| u64::from(x.cast_unsigned());
    u16: U16, |x| u64::from(x);
    i32: I32, |x| u64::from(x.cast_unsigned());
    u32: U32, |x| u64::from(x);
    i64: I64, |x| x.cast_unsigned();
    u64: U64, |x| x;
}

/// `marker!(Float: f32, f64)` implements a marker trait for types.
macro_rules! marker {
    ($name:ident: $($ty:ty),+) => {
        $(impl $name for $ty {})+
    };
}

marker!(Number: f16, bf16, f32, f64, i8, u8, i16, u16, i32, u32, i64, u64);
marker!(Float: f16, bf16, f32, f64);
marker!(Integer: i8, u8, i16, u16, i32, u32, i64, u64);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scalars_are_zero_extended() {
        assert_eq!((-1i8).to_scalar().bits, 0xff);
        assert_eq!((-1i32).to_scalar().bits, 0xffff_ffff);
        assert_eq!((-1i64).to_scalar().bits, u64::MAX);
        assert_eq!(1.0f32.to_scalar().bits, 0x3f80_0000);
        assert_eq!(bf16::ONE.to_scalar().bits, 0x3f80);
        assert_eq!(true.to_scalar().bits, 1);
    }

    #[test]
    fn element_sizes_are_those_of_the_language() {
        fn check<T: Element>() {
            assert_eq!(size_of::<T>(), T::DTYPE.size_bytes() as usize, "{}", T::DTYPE);
            assert_eq!(align_of::<T>(), T::DTYPE.size_bytes() as usize, "{}", T::DTYPE);
        }
        check::<bool>();
        check::<f16>();
        check::<bf16>();
        check::<f64>();
        check::<i8>();
        check::<u16>();
        check::<i32>();
        check::<u64>();
    }
}
