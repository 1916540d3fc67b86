//! Inputs from a seed.

use super::Failure;

/// How many arrays of an input's size an entry has: the input and the result, on the
/// device and on the host, where a reference stands beside them.
const COPIES: usize = 6;

/// `n` numbers from -1 to 1, never the same for two seeds.
///
/// # Errors
///
/// Where the machine has no memory for so many.
pub fn floats(seed: u64, n: usize) -> Result<Vec<f32>, Failure> {
    let mut rng = fastrand::Rng::with_seed(seed);
    filled(n, || rng.f32() * 2.0 - 1.0)
}

/// `n` whole numbers below `end`.
///
/// # Errors
///
/// Where the machine has no memory for so many.
pub fn ints(seed: u64, n: usize, end: u32) -> Result<Vec<u32>, Failure> {
    let mut rng = fastrand::Rng::with_seed(seed);
    filled(n, || rng.u32(..end))
}

/// `n` bytes.
///
/// # Errors
///
/// Where the machine has no memory for so many.
pub fn bytes(seed: u64, n: usize) -> Result<Vec<u8>, Failure> {
    let mut rng = fastrand::Rng::with_seed(seed);
    filled(n, || rng.u8(..))
}

/// `n` values, where there is room for them and for what is made of them.
fn filled<T>(n: usize, next: impl FnMut() -> T) -> Result<Vec<T>, Failure> {
    check_room::<T>(n)?;
    Ok(std::iter::repeat_with(next).take(n).collect())
}

/// Reports where the machine has no memory for the arrays that an entry makes of one of
/// `n` elements.
pub(super) fn check_room<T>(n: usize) -> Result<(), Failure> {
    let mut room: Vec<T> = Vec::new();
    let whole = n.checked_mul(COPIES).filter(|whole| room.try_reserve_exact(*whole).is_ok());
    match whole {
        Some(_) => Ok(()),
        None => Err(Failure::Sizes(format!("there is no memory for arrays of {n} elements"))),
    }
}
