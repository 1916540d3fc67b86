//! Inputs from a seed.

/// `n` numbers from -1 to 1, never the same for two seeds.
pub fn floats(seed: u64, n: usize) -> Vec<f32> {
    let mut rng = fastrand::Rng::with_seed(seed);
    (0..n).map(|_| rng.f32() * 2.0 - 1.0).collect()
}

/// `n` whole numbers below `end`.
pub fn ints(seed: u64, n: usize, end: u32) -> Vec<u32> {
    let mut rng = fastrand::Rng::with_seed(seed);
    (0..n).map(|_| rng.u32(..end)).collect()
}

/// `n` bytes.
pub fn bytes(seed: u64, n: usize) -> Vec<u8> {
    let mut rng = fastrand::Rng::with_seed(seed);
    (0..n).map(|_| rng.u8(..)).collect()
}
