//! Moving elements between arrays and registers.

use super::access::{LaneAddresses, Row};

/// Reads one row into lanes; `pad` goes to the lanes outside, where given.
///
/// # Safety
///
/// `array` is aligned for `E`; the row's lanes inside name elements of it that
/// are valid for reads; `dst` is valid for writes of the row's lanes, aligned,
/// and disjoint from the array.
pub(super) unsafe fn load_row<E: Copy>(row: &Row, array: *const E, dst: *mut E, pad: Option<E>) {
    let n = row.inside.len();
    // SAFETY: the lanes inside are lanes of the row.
    let to = unsafe { dst.add(row.inside.start) };
    if n > 0 {
        // SAFETY: the offset is that of a lane inside, an element of the array.
        let from = unsafe { array.offset(row.offset as isize) };
        match row.step {
            // SAFETY: `n` elements from there on are those of the lanes inside.
            1 => unsafe { std::ptr::copy_nonoverlapping(from, to, n) },
            0 => {
                // SAFETY: `n` lanes from there on are inside; `from` is readable.
                unsafe { std::slice::from_raw_parts_mut(to, n).fill(*from) }
            }
            step => {
                for lane in 0..n {
                    // SAFETY: each lane's element, `step` elements after the last's.
                    unsafe { *to.add(lane) = *from.offset(lane as isize * step as isize) };
                }
            }
        }
    }
    let Some(pad) = pad else { return };
    for lane in (0..row.inside.start).chain(row.inside.end..row.n_lanes) {
        // SAFETY: a lane of the row.
        unsafe { *dst.add(lane) = pad };
    }
}

/// Writes the lanes inside of one row.
///
/// # Safety
///
/// As for [`load_row`], with reads and writes exchanged.
pub(super) unsafe fn store_row<E: Copy>(row: &Row, array: *mut E, src: *const E) {
    let n = row.inside.len();
    if n == 0 {
        return;
    }
    // SAFETY: the lanes inside are lanes of the row.
    let from = unsafe { src.add(row.inside.start) };
    // SAFETY: the offset is that of a lane inside, an element of the array.
    let to = unsafe { array.offset(row.offset as isize) };
    if row.step == 1 {
        // SAFETY: `n` elements from there on are those of the lanes inside.
        unsafe { std::ptr::copy_nonoverlapping(from, to, n) };
        return;
    }
    for lane in 0..n {
        // SAFETY: each lane's element, `step` elements after the last's.
        unsafe { *to.offset(lane as isize * row.step as isize) = *from.add(lane) };
    }
}

/// Reads the elements of `n` lanes; `pad` goes to the lanes outside, where given.
///
/// # Safety
///
/// `array` is aligned for `E`; the lanes inside name elements of it that are
/// valid for reads; `dst` is valid for writes of `n` lanes, aligned, and
/// disjoint from the array.
pub(super) unsafe fn gather<E: Copy>(
    addresses: &LaneAddresses,
    n: usize,
    array: *const E,
    dst: *mut E,
    pad: Option<E>,
) {
    let lanes = addresses.offsets[..n].iter().zip(&addresses.inside[..n]);
    for (lane, (&offset, &inside)) in lanes.enumerate() {
        if inside {
            // SAFETY: the lane is inside.
            unsafe { *dst.add(lane) = *array.offset(offset as isize) };
        } else if let Some(pad) = pad {
            // SAFETY: a lane of the register.
            unsafe { *dst.add(lane) = pad };
        }
    }
}

/// Writes the elements of those of `n` lanes that are inside.
///
/// # Safety
///
/// As for [`gather`], with reads and writes exchanged.
pub(super) unsafe fn scatter<E: Copy>(
    addresses: &LaneAddresses,
    n: usize,
    array: *mut E,
    src: *const E,
) {
    let lanes = addresses.offsets[..n].iter().zip(&addresses.inside[..n]);
    for (lane, (&offset, &inside)) in lanes.enumerate() {
        if inside {
            // SAFETY: the lane is inside.
            unsafe { *array.offset(offset as isize) = *src.add(lane) };
        }
    }
}
