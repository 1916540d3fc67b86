//! The hash of all tables and made-up values of a run: the same in every run, and short.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// A table whose keys no author of a kernel gains anything by choosing: of one kernel no
/// run makes more than its accesses.
pub(super) type Map<K, V> = HashMap<K, V, BuildHasherDefault<Hash>>;

/// FNV-1a over words, with a last mix, since the low bits are used.
#[derive(Clone, Debug)]
pub(super) struct Hash(u64);

impl Default for Hash {
    fn default() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }
}

impl Hash {
    #[inline]
    pub(super) fn add(&mut self, word: i64) {
        self.0 = (self.0 ^ word as u64).wrapping_mul(0x0000_0100_0000_01b3);
    }

    #[inline]
    pub(super) fn finish(&self) -> u64 {
        let mixed = (self.0 ^ (self.0 >> 32)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        mixed >> 29
    }
}

impl Hasher for Hash {
    fn finish(&self) -> u64 {
        // A table looks at the highest bits as well.
        (self.0 ^ (self.0 >> 32)).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29)
    }

    fn write(&mut self, bytes: &[u8]) {
        let (words, rest) = bytes.as_chunks();
        words.iter().for_each(|word| self.add(i64::from_le_bytes(*word)));
        rest.iter().for_each(|byte| self.add((*byte).into()));
    }

    fn write_u8(&mut self, word: u8) {
        self.add(word.into());
    }

    fn write_u32(&mut self, word: u32) {
        self.add(word.into());
    }

    fn write_u64(&mut self, word: u64) {
        self.add(word as i64);
    }

    fn write_u128(&mut self, word: u128) {
        self.add(word as i64);
        self.add((word >> 64) as i64);
    }

    fn write_usize(&mut self, word: usize) {
        self.add(word as i64);
    }
}

#[cfg(test)]
mod tests {
    use std::hash::BuildHasher as _;

    use super::*;

    #[test]
    fn words_of_one_place_spread_over_tables() {
        let hash = Map::<u64, ()>::default().hasher().clone();
        for shift in [0, 20, 52] {
            let of_all: Vec<u64> = (0..256u64).map(|word| hash.hash_one(word << shift)).collect();
            for bits in [0, 57] {
                let places: std::collections::BTreeSet<u64> =
                    of_all.iter().map(|hash| hash >> bits & 0x7f).collect();
                assert!(places.len() > 64, "{} by {shift} at {bits}", places.len());
            }
        }
    }
}
