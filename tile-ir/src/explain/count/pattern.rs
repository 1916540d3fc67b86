//! What requests take, by how the elements of their lanes lie to one another.
//!
//! A warp's request that is moved as a whole takes the same as before: one to shared
//! memory if it is moved by whole words, which only exchanges the banks, one to global
//! memory if by whole sectors. A site of the text sees few such patterns, one after
//! the other.

use super::value::{LANES, Mask, Value};
use crate::analyze::banks::{WORD_BYTES, wavefronts_of};
use crate::analyze::sectors::{SECTOR_BYTES, sectors_of};

/// Patterns of a site that are kept.
const MOST: usize = 4;

/// What a request takes: sectors or wavefronts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Cost {
    /// As it is.
    pub(super) taken: u64,
    /// At the least.
    pub(super) ideal: u64,
}

/// Which memory a site's requests go to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Memory {
    Global,
    Shared,
}

/// One request, apart from where it is as a whole.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Pattern {
    /// The lanes that take part.
    lanes: Mask,
    /// Bytes of the first one's address beyond a whole word or sector.
    phase: i64,
    /// By lane: elements from the first one's on; 0 of lanes that take no part.
    apart: [i64; LANES],
}

impl Pattern {
    /// Of the lanes' first elements, where all of them are known.
    fn of(lanes: Mask, offset: &Value, elem_bytes: i64, memory: Memory) -> Option<Self> {
        let unit = match memory {
            Memory::Global => SECTOR_BYTES,
            Memory::Shared => WORD_BYTES,
        };
        let first = offset.lane(lanes.trailing_zeros() as usize)?;
        let mut apart = [0; LANES];
        if let Value::Each(values) = offset {
            // An iterator is several times slower where nothing is optimised.
            let mut lane = 0;
            while lane < LANES {
                if lanes >> lane & 1 == 1 {
                    apart[lane] = values[lane].wrapping_sub(first);
                }
                lane += 1;
            }
        }
        let phase = first.wrapping_mul(elem_bytes).rem_euclid(unit.cast_signed());
        Some(Self { lanes, phase, apart })
    }

    fn cost(&self, elem_bytes: i64, size_bytes: u32, memory: Memory) -> Cost {
        let is_active = |lane: &usize| self.lanes >> lane & 1 == 1;
        let address = |lane: usize| self.apart[lane].wrapping_mul(elem_bytes) + self.phase;
        match memory {
            Memory::Global => {
                let addresses: Vec<i64> = (0..LANES).filter(is_active).map(address).collect();
                let found = sectors_of(&addresses, size_bytes);
                Cost { taken: found.moved.into(), ideal: found.ideal.into() }
            }
            Memory::Shared => {
                // Words are told by numbers from 0 on.
                let least = (0..LANES).filter(is_active).map(address).min().unwrap_or(0);
                let base = least.div_euclid(WORD_BYTES.cast_signed()) * WORD_BYTES.cast_signed();
                let bytes = |lane| (address(lane) - base).unsigned_abs();
                let lanes = (0..LANES).map(|lane| is_active(&lane).then(|| bytes(lane)));
                let found = wavefronts_of(&lanes.collect::<Vec<_>>(), size_bytes);
                Cost { taken: found.taken.into(), ideal: found.ideal.into() }
            }
        }
    }
}

/// The patterns that one site has had, the last one first.
#[derive(Clone, Debug, Default)]
pub(super) struct Patterns(Vec<(Pattern, Cost)>);

impl Patterns {
    /// What a request of these lanes takes whose first elements are `offset`, of
    /// `elem_bytes` bytes each, `size_bytes` a lane; `None` where that depends on data.
    pub(super) fn cost(
        &mut self,
        (lanes, offset): (Mask, &Value),
        (elem_bytes, size_bytes): (u32, u32),
        memory: Memory,
    ) -> Option<Cost> {
        let elem_bytes = i64::from(elem_bytes);
        let pattern = Pattern::of(lanes, offset, elem_bytes, memory)?;
        let known = self.0.iter().position(|(known, _)| *known == pattern);
        let (pattern, cost) = match known {
            Some(place) => self.0.remove(place),
            None => {
                let cost = pattern.cost(elem_bytes, size_bytes, memory);
                (pattern, cost)
            }
        };
        self.0.truncate(MOST - 1);
        self.0.insert(0, (pattern, cost));
        Some(cost)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By all addresses, one after another.
    fn direct(lanes: Mask, offsets: &[i64; LANES], sizes: (u32, u32), memory: Memory) -> Cost {
        let address = |lane: usize| offsets[lane] * i64::from(sizes.0);
        let active = |lane: &usize| lanes >> lane & 1 == 1;
        match memory {
            Memory::Global => {
                let all: Vec<i64> = (0..LANES).filter(active).map(address).collect();
                let found = sectors_of(&all, sizes.1);
                Cost { taken: found.moved.into(), ideal: found.ideal.into() }
            }
            Memory::Shared => {
                let byte = |lane: usize| active(&lane).then(|| address(lane).unsigned_abs());
                let found = wavefronts_of(&(0..LANES).map(byte).collect::<Vec<_>>(), sizes.1);
                Cost { taken: found.taken.into(), ideal: found.ideal.into() }
            }
        }
    }

    #[test]
    fn moved_requests_take_what_each_takes_alone() {
        let mut rng = fastrand::Rng::with_seed(1);
        for memory in [Memory::Global, Memory::Shared] {
            for _ in 0..200 {
                let elem_bytes = [1, 2, 4, 8][rng.usize(0..4)];
                let width = [1, 2, 4][rng.usize(0..3)];
                let sizes = (elem_bytes, (elem_bytes * width).min(16));
                let stride = rng.i64(0..40);
                let shape: [i64; LANES] = std::array::from_fn(|lane| match rng.u8(0..6) {
                    0 => rng.i64(0..200),
                    _ => stride * lane as i64,
                });
                let mut patterns = Patterns::default();
                for _ in 0..20 {
                    let lanes = if rng.bool() { Mask::MAX } else { rng.u32(1..) };
                    let base = rng.i64(0..300);
                    let offsets = shape.map(|at| at + base);
                    let value = Value::Each(Box::new(offsets));
                    let found = patterns.cost((lanes, &value), sizes, memory);
                    assert_eq!(found, Some(direct(lanes, &offsets, sizes, memory)), "{shape:?}");
                    let one = patterns.cost((lanes, &Value::Same(base)), sizes, memory);
                    assert_eq!(one, Some(direct(lanes, &[base; LANES], sizes, memory)));
                }
                assert_eq!(patterns.cost((1, &Value::Unknown), sizes, memory), None);
            }
        }
    }
}
