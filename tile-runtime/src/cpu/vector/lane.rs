//! The types that lanes hold.

use half::{bf16, f16};
use tile_ir::semantics::BitOps;

/// A `bool` lane: false where 0. Unlike Rust's `bool` it may hold any byte, so
/// that reading memory that no one wrote stays defined.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
#[repr(transparent)]
pub(crate) struct Flag(pub(crate) u8);

impl Flag {
    /// Whether it is set.
    #[inline(always)]
    pub(crate) fn is_set(self) -> bool {
        self.0 != 0
    }
}

impl From<bool> for Flag {
    #[inline(always)]
    fn from(value: bool) -> Self {
        Self(u8::from(value))
    }
}

impl BitOps for Flag {
    #[inline(always)]
    fn and(self, rhs: Self) -> Self {
        (self.is_set() & rhs.is_set()).into()
    }
    #[inline(always)]
    fn or(self, rhs: Self) -> Self {
        (self.is_set() | rhs.is_set()).into()
    }
    #[inline(always)]
    fn xor(self, rhs: Self) -> Self {
        (self.is_set() ^ rhs.is_set()).into()
    }
    #[inline(always)]
    fn not(self) -> Self {
        (!self.is_set()).into()
    }
}

/// A type of which registers are made. Every bit pattern is a value.
pub(super) trait Lane: Copy + Default + 'static {
    /// Whether loops over it are worth unrolling into vector registers.
    const WIDE: bool;
}

/// Implements [`Lane`].
macro_rules! lanes {
    ($($ty:ty: $wide:literal;)+) => {$(
        impl Lane for $ty {
            const WIDE: bool = $wide;
        }
    )+};
}

lanes! {
    Flag: true; i8: true; u8: true; i16: true; u16: true; i32: true; u32: true;
    i64: true; u64: true; f32: true; f64: true; f16: false; bf16: false;
}
