//! Atomic updates of one element. Blocks run on several cores at once, so these
//! are the processor's. Nothing is ordered by them, hence `Relaxed`.

use std::sync::atomic::{AtomicI32, AtomicI64, AtomicU32, AtomicU64, Ordering::Relaxed};

use tile_ir::dtype::DType;
use tile_ir::op::AtomicOp;
use tile_ir::semantics::NumberOps;

/// Updates the element at the first pointer with the value at the second, where
/// the operation compares only if it is the value at the third; puts the value
/// before to the fourth.
///
/// # Safety
///
/// All are valid and aligned for the type that the function was asked for, the
/// first and the last for writes, the third only where the operation compares;
/// all others that use the element meanwhile do so atomically.
pub(crate) type AtomicFn = unsafe fn(*mut u8, *const u8, *const u8, *mut u8);

/// The function of an operation; `None` where the type does not have it.
pub(crate) fn atomic(op: AtomicOp, dtype: DType) -> Option<AtomicFn> {
    match dtype {
        DType::I32 => Some(of_i32(op)),
        DType::U32 => Some(of_u32(op)),
        DType::I64 => Some(of_i64(op)),
        DType::U64 => Some(of_u64(op)),
        DType::F32 => of_f32(op),
        DType::F64 => of_f64(op),
        DType::Bool
        | DType::F16
        | DType::BF16
        | DType::I8
        | DType::U8
        | DType::I16
        | DType::U16 => None,
    }
}

/// `exchange!(AtomicU32, swap)`: an exchange of bits, plain or where they are as
/// expected.
macro_rules! exchange {
    ($atomic:ty, swap) => {{
        unsafe fn swap(at: *mut u8, value: *const u8, _: *const u8, old: *mut u8) {
            // SAFETY: as the type of these functions asks; an atomic type has the
            // layout of its integer, and those of a size share it.
            unsafe {
                let value = value.cast::<$atomic>().read().into_inner();
                let before = <$atomic>::from_ptr(at.cast()).swap(value, Relaxed);
                old.cast::<$atomic>().write(before.into());
            }
        }
        swap
    }};
    ($atomic:ty, compare) => {{
        unsafe fn compare(at: *mut u8, value: *const u8, expected: *const u8, old: *mut u8) {
            // SAFETY: as for `swap`; of an operation that compares the expected
            // value is there.
            unsafe {
                let value = value.cast::<$atomic>().read().into_inner();
                let expected = expected.cast::<$atomic>().read().into_inner();
                let element = <$atomic>::from_ptr(at.cast());
                let found = element.compare_exchange(expected, value, Relaxed, Relaxed);
                old.cast::<$atomic>().write(found.unwrap_or_else(|found| found).into());
            }
        }
        compare
    }};
}

/// `of_int!(of_i32, i32, AtomicI32);`: the functions of an integer type.
macro_rules! of_int {
    ($name:ident, $ty:ty, $atomic:ty) => {
        fn $name(op: AtomicOp) -> AtomicFn {
            /// An update by a method of the atomic type.
            macro_rules! by {
                ($method:ident) => {{
                    unsafe fn update(at: *mut u8, value: *const u8, _: *const u8, old: *mut u8) {
                        // SAFETY: as the type of these functions asks.
                        unsafe {
                            let value = value.cast::<$ty>().read();
                            let before = <$atomic>::from_ptr(at.cast()).$method(value, Relaxed);
                            old.cast::<$ty>().write(before);
                        }
                    }
                    update
                }};
            }
            match op {
                AtomicOp::Add => by!(fetch_add),
                AtomicOp::Sub => by!(fetch_sub),
                AtomicOp::And => by!(fetch_and),
                AtomicOp::Or => by!(fetch_or),
                AtomicOp::Xor => by!(fetch_xor),
                AtomicOp::Min => by!(fetch_min),
                AtomicOp::Max => by!(fetch_max),
                AtomicOp::Swap => exchange!($atomic, swap),
                AtomicOp::CompareExchange => exchange!($atomic, compare),
            }
        }
    };
}

of_int!(of_i32, i32, AtomicI32);
of_int!(of_u32, u32, AtomicU32);
of_int!(of_i64, i64, AtomicI64);
of_int!(of_u64, u64, AtomicU64);

/// `of_float!(of_f32, f32, AtomicU32);`: the functions of a floating-point type,
/// by exchange of its bits.
macro_rules! of_float {
    ($name:ident, $ty:ty, $atomic:ty) => {
        fn $name(op: AtomicOp) -> Option<AtomicFn> {
            /// An update by an operation of the language's semantics.
            macro_rules! by {
                ($method:ident) => {{
                    unsafe fn update(at: *mut u8, value: *const u8, _: *const u8, old: *mut u8) {
                        // SAFETY: as the type of these functions asks.
                        let element = unsafe { <$atomic>::from_ptr(at.cast()) };
                        // SAFETY: the same.
                        let value = unsafe { value.cast::<$ty>().read() };
                        let mut seen = element.load(Relaxed);
                        loop {
                            let new = NumberOps::$method(<$ty>::from_bits(seen), value).to_bits();
                            match element.compare_exchange_weak(seen, new, Relaxed, Relaxed) {
                                Ok(_) => break,
                                Err(other) => seen = other,
                            }
                        }
                        // SAFETY: as above.
                        unsafe { old.cast::<$ty>().write(<$ty>::from_bits(seen)) };
                    }
                    update
                }};
            }
            Some(match op {
                AtomicOp::Add => by!(add),
                AtomicOp::Sub => by!(sub),
                AtomicOp::Min => by!(min),
                AtomicOp::Max => by!(max),
                AtomicOp::Swap => exchange!($atomic, swap),
                AtomicOp::CompareExchange => exchange!($atomic, compare),
                AtomicOp::And | AtomicOp::Or | AtomicOp::Xor => return None,
            })
        }
    };
}

of_float!(of_f32, f32, AtomicU32);
of_float!(of_f64, f64, AtomicU64);
