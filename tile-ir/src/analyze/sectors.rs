//! Coalescing: the sectors of global memory that a warp's access moves.
//!
//! # Source
//!
//! CUDA C++ Best Practices Guide, "Coalesced Access to Global Memory": the
//! accesses of a warp's threads become as many transactions of 32 bytes as are
//! necessary to serve all of them.

/// Bytes of a sector, the unit of traffic between caches and memory.
pub const SECTOR_BYTES: u64 = 32;

/// What one warp's request to global memory moves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sectors {
    /// Sectors that the addresses fall into.
    pub moved: u32,
    /// Sectors that as many different bytes would fall into if they lay in a row and
    /// began at a sector.
    pub ideal: u32,
}

/// The sectors of one warp's request for `size_bytes` at each of these byte
/// addresses.
///
/// # Examples
///
/// ```
/// use tile_ir::analyze::sectors::sectors_of;
/// let row: Vec<i64> = (0..32).map(|lane| 4 * lane).collect();
/// assert_eq!((sectors_of(&row, 4).moved, sectors_of(&row, 4).ideal), (4, 4));
/// let column: Vec<i64> = (0..32).map(|lane| 4096 * lane).collect();
/// assert_eq!((sectors_of(&column, 4).moved, sectors_of(&column, 4).ideal), (32, 4));
/// ```
pub fn sectors_of(addresses: &[i64], size_bytes: u32) -> Sectors {
    let unit = SECTOR_BYTES.cast_signed();
    let size = i64::from(size_bytes.max(1));
    let mut sorted = addresses.to_vec();
    sorted.sort_unstable();
    let (mut moved, mut bytes) = (0u32, 0i64);
    let mut last_sector = None;
    let mut end = i64::MIN;
    for address in sorted {
        let mut first = address.div_euclid(unit);
        let last = (address + size - 1).div_euclid(unit);
        if let Some(known) = last_sector {
            first = first.max(known + 1);
        }
        if first <= last {
            moved += (last - first + 1) as u32;
            last_sector = Some(last);
        }
        bytes += (address + size - end.max(address)).max(0);
        end = end.max(address + size);
    }
    Sectors { moved, ideal: (bytes as u64).div_ceil(SECTOR_BYTES) as u32 }
}

#[cfg(test)]
mod tests {
    use super::{Sectors, sectors_of};

    fn check(addresses: impl Iterator<Item = i64>, size_bytes: u32, moved: u32, ideal: u32) {
        let addresses: Vec<i64> = addresses.collect();
        assert_eq!(sectors_of(&addresses, size_bytes), Sectors { moved, ideal });
    }

    /// The cases of the Best Practices Guide, section "Coalesced Access to Global
    /// Memory": in a row, misaligned by one word, strided by 2.
    #[test]
    fn the_guides_access_patterns() {
        check((0..32).map(|lane| 4 * lane), 4, 4, 4);
        check((0..32).map(|lane| 4 * (lane + 1)), 4, 5, 4);
        check((0..32).map(|lane| 8 * lane), 4, 8, 4);
        // The order of the lanes does not matter.
        check((0..32).map(|lane| 4 * (31 - lane)), 4, 4, 4);
    }

    #[test]
    fn vectors_broadcasts_and_bytes() {
        check((0..32).map(|lane| 16 * lane), 16, 16, 16);
        check((0..32).map(|_| 64), 4, 1, 1);
        check(0..32, 1, 1, 1);
        check(16..48, 1, 2, 1);
        // A column of doubles.
        check((0..32).map(|lane| 8192 * lane), 8, 32, 8);
        check(std::iter::empty(), 4, 0, 0);
    }
}
