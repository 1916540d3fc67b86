//! Random numbers that are the same everywhere.

/// A generator of 64-bit numbers.
///
/// # Source
///
/// G. L. Steele, D. Lea, C. H. Flood: Fast Splittable Pseudorandom Number
/// Generators. OOPSLA 2014, "SplitMix".
pub(super) struct Rng(u64);

impl Rng {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Brings the values into a random order.
    pub(super) fn shuffle<T>(&mut self, values: &mut [T]) {
        for last in (1..values.len()).rev() {
            let n_left = last as u64 + 1;
            values.swap(last, (self.next() % n_left) as usize);
        }
    }
}
