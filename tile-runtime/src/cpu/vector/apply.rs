//! Loops over lanes.
//!
//! # Safety
//!
//! The functions here take untyped pointers. A caller of [`Fn1`], [`Fn2`],
//! [`Fn3`] with `n` lanes answers for this: every pointer is aligned for its
//! lane type; each source is valid for reads of `n` lanes and the destination
//! for writes of `n`; no other thread writes them, or reads the destination,
//! meanwhile; and a source is either disjoint from the destination or begins at
//! the same lane with lanes of the same size. (A block of lanes is read whole
//! before it is written.)

use super::lane::Lane;

/// `dst[i] = f(a[i])` for `n` lanes: `(dst, a, n)`.
pub(crate) type Fn1 = unsafe fn(*mut u8, *const u8, usize);
/// `dst[i] = f(a[i], b[i])` for `n` lanes: `(dst, a, b, n)`.
pub(crate) type Fn2 = unsafe fn(*mut u8, *const u8, *const u8, usize);
/// `dst[i] = f(a[i], b[i], c[i])` for `n` lanes: `(dst, a, b, c, n)`.
pub(crate) type Fn3 = unsafe fn(*mut u8, *const u8, *const u8, *const u8, usize);

/// Lanes per unrolled step.
const BLOCK: usize = 16;

/// A function of one lane.
pub(super) trait Map1 {
    /// Operand.
    type A: Lane;
    /// Result.
    type Out: Lane;
    /// Whether it is worth unrolling.
    const WIDE: bool;
    /// The function.
    fn apply(a: Self::A) -> Self::Out;
}

/// A function of two lanes.
pub(super) trait Map2 {
    /// Left operand.
    type A: Lane;
    /// Right operand.
    type B: Lane;
    /// Result.
    type Out: Lane;
    /// Whether it is worth unrolling.
    const WIDE: bool;
    /// The function.
    fn apply(a: Self::A, b: Self::B) -> Self::Out;
}

/// A function of three lanes.
pub(super) trait Map3 {
    /// First operand.
    type A: Lane;
    /// Second operand.
    type B: Lane;
    /// Third operand.
    type C: Lane;
    /// Result.
    type Out: Lane;
    /// Whether it is worth unrolling.
    const WIDE: bool;
    /// The function.
    fn apply(a: Self::A, b: Self::B, c: Self::C) -> Self::Out;
}

/// Whether the wide loops can run on this machine.
fn has_wide() -> bool {
    #[cfg(target_arch = "x86_64")]
    {
        is_x86_feature_detected!("avx2")
            && is_x86_feature_detected!("fma")
            && is_x86_feature_detected!("f16c")
    }
    #[cfg(not(target_arch = "x86_64"))]
    {
        false
    }
}

/// The loop of a one-operand function, for this machine.
pub(super) fn fn1<O: Map1>() -> Fn1 {
    #[cfg(target_arch = "x86_64")]
    if O::WIDE && has_wide() {
        return wide::map1::<O>;
    }
    narrow::map1::<O>
}

/// The loop of a two-operand function, for this machine.
pub(super) fn fn2<O: Map2>() -> Fn2 {
    #[cfg(target_arch = "x86_64")]
    if O::WIDE && has_wide() {
        return wide::map2::<O>;
    }
    narrow::map2::<O>
}

/// The loop of a three-operand function, for this machine.
pub(super) fn fn3<O: Map3>() -> Fn3 {
    #[cfg(target_arch = "x86_64")]
    if O::WIDE && has_wide() {
        return wide::map3::<O>;
    }
    narrow::map3::<O>
}

/// Repeats `dst[i] = *a` for `n` lanes of `T`.
///
/// # Safety
///
/// As for [`Fn1`], but `a` is one lane only and disjoint from `dst`.
pub(super) unsafe fn splat<T: Lane>(dst: *mut u8, a: *const u8, n: usize) {
    // SAFETY: `a` is one readable lane and `dst` holds `n` writable ones, by
    // this function's contract.
    unsafe { std::slice::from_raw_parts_mut(dst.cast::<T>(), n).fill(*a.cast::<T>()) }
}

/// Copies `n` lanes of `T`.
///
/// # Safety
///
/// As for [`Fn1`].
pub(super) unsafe fn copy<T: Lane>(dst: *mut u8, a: *const u8, n: usize) {
    // SAFETY: both hold `n` lanes; `copy` allows that they are the same.
    unsafe { std::ptr::copy(a.cast::<T>(), dst.cast::<T>(), n) }
}

/// # Safety
///
/// As for [`Fn1`].
#[inline(always)]
unsafe fn body1<O: Map1>(dst: *mut u8, a: *const u8, n: usize) {
    let (dst, a) = (dst.cast::<O::Out>(), a.cast::<O::A>());
    let mut i = 0;
    while O::WIDE && i + BLOCK <= n {
        // SAFETY: lanes i..i+BLOCK are below n.
        let x = unsafe { a.add(i).cast::<[O::A; BLOCK]>().read() };
        let mut z = [O::Out::default(); BLOCK];
        for j in 0..BLOCK {
            z[j] = O::apply(x[j]);
        }
        // SAFETY: as above.
        unsafe { dst.add(i).cast::<[O::Out; BLOCK]>().write(z) };
        i += BLOCK;
    }
    while i < n {
        // SAFETY: lane i is below n.
        unsafe { dst.add(i).write(O::apply(a.add(i).read())) };
        i += 1;
    }
}

/// # Safety
///
/// As for [`Fn2`].
#[inline(always)]
unsafe fn body2<O: Map2>(dst: *mut u8, a: *const u8, b: *const u8, n: usize) {
    let (dst, a, b) = (dst.cast::<O::Out>(), a.cast::<O::A>(), b.cast::<O::B>());
    let mut i = 0;
    while O::WIDE && i + BLOCK <= n {
        // SAFETY: lanes i..i+BLOCK are below n.
        let x = unsafe { a.add(i).cast::<[O::A; BLOCK]>().read() };
        // SAFETY: as above.
        let y = unsafe { b.add(i).cast::<[O::B; BLOCK]>().read() };
        let mut z = [O::Out::default(); BLOCK];
        for j in 0..BLOCK {
            z[j] = O::apply(x[j], y[j]);
        }
        // SAFETY: as above.
        unsafe { dst.add(i).cast::<[O::Out; BLOCK]>().write(z) };
        i += BLOCK;
    }
    while i < n {
        // SAFETY: lane i is below n.
        unsafe { dst.add(i).write(O::apply(a.add(i).read(), b.add(i).read())) };
        i += 1;
    }
}

/// # Safety
///
/// As for [`Fn3`].
#[inline(always)]
unsafe fn body3<O: Map3>(dst: *mut u8, a: *const u8, b: *const u8, c: *const u8, n: usize) {
    let (a, b, c) = (a.cast::<O::A>(), b.cast::<O::B>(), c.cast::<O::C>());
    let dst = dst.cast::<O::Out>();
    let mut i = 0;
    while O::WIDE && i + BLOCK <= n {
        // SAFETY: lanes i..i+BLOCK are below n.
        let x = unsafe { a.add(i).cast::<[O::A; BLOCK]>().read() };
        // SAFETY: as above.
        let y = unsafe { b.add(i).cast::<[O::B; BLOCK]>().read() };
        // SAFETY: as above.
        let w = unsafe { c.add(i).cast::<[O::C; BLOCK]>().read() };
        let mut z = [O::Out::default(); BLOCK];
        for j in 0..BLOCK {
            z[j] = O::apply(x[j], y[j], w[j]);
        }
        // SAFETY: as above.
        unsafe { dst.add(i).cast::<[O::Out; BLOCK]>().write(z) };
        i += BLOCK;
    }
    while i < n {
        // SAFETY: lane i is below n.
        unsafe { dst.add(i).write(O::apply(a.add(i).read(), b.add(i).read(), c.add(i).read())) };
        i += 1;
    }
}

/// The loops for the target's baseline.
mod narrow {
    use super::{Map1, Map2, Map3, body1, body2, body3};

    /// # Safety
    ///
    /// As for [`super::Fn1`].
    pub(super) unsafe fn map1<O: Map1>(dst: *mut u8, a: *const u8, n: usize) {
        // SAFETY: the caller's promise is the body's.
        unsafe { body1::<O>(dst, a, n) }
    }

    /// # Safety
    ///
    /// As for [`super::Fn2`].
    pub(super) unsafe fn map2<O: Map2>(dst: *mut u8, a: *const u8, b: *const u8, n: usize) {
        // SAFETY: the caller's promise is the body's.
        unsafe { body2::<O>(dst, a, b, n) }
    }

    /// # Safety
    ///
    /// As for [`super::Fn3`].
    pub(super) unsafe fn map3<O: Map3>(
        dst: *mut u8,
        a: *const u8,
        b: *const u8,
        c: *const u8,
        n: usize,
    ) {
        // SAFETY: the caller's promise is the body's.
        unsafe { body3::<O>(dst, a, b, c, n) }
    }
}

/// The loops for AVX2 with FMA; only [`has_wide`] machines get them.
#[cfg(target_arch = "x86_64")]
mod wide {
    use super::{Map1, Map2, Map3, body1, body2, body3};

    /// # Safety
    ///
    /// As for [`super::Fn1`], on a machine with the features.
    #[target_feature(enable = "avx2,fma,f16c")]
    pub(super) unsafe fn map1<O: Map1>(dst: *mut u8, a: *const u8, n: usize) {
        // SAFETY: the caller's promise is the body's.
        unsafe { body1::<O>(dst, a, n) }
    }

    /// # Safety
    ///
    /// As for [`super::Fn2`], on a machine with the features.
    #[target_feature(enable = "avx2,fma,f16c")]
    pub(super) unsafe fn map2<O: Map2>(dst: *mut u8, a: *const u8, b: *const u8, n: usize) {
        // SAFETY: the caller's promise is the body's.
        unsafe { body2::<O>(dst, a, b, n) }
    }

    /// # Safety
    ///
    /// As for [`super::Fn3`], on a machine with the features.
    #[target_feature(enable = "avx2,fma,f16c")]
    pub(super) unsafe fn map3<O: Map3>(
        dst: *mut u8,
        a: *const u8,
        b: *const u8,
        c: *const u8,
        n: usize,
    ) {
        // SAFETY: the caller's promise is the body's.
        unsafe { body3::<O>(dst, a, b, c, n) }
    }
}
