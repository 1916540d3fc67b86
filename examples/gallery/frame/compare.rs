//! Compares results with references.

use std::fmt::Debug;

/// Why an entry did not pass.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// A tensor or a launch.
    #[error(transparent)]
    Device(#[from] tile_runtime::Error),
    /// An element.
    #[error("{what}: element {at} is {found}, not {expected}")]
    Wrong {
        /// Which result.
        what: &'static str,
        /// The element's position, row-major.
        at: usize,
        /// What is there.
        found: String,
        /// What should be.
        expected: String,
    },
    /// A result of another length.
    #[error("{what}: {found} elements, not {expected}")]
    Length {
        /// Which result.
        what: &'static str,
        /// How many there are.
        found: usize,
        /// How many there should be.
        expected: usize,
    },
    /// Sizes that the entry cannot be run in.
    #[error("{0}")]
    Sizes(String),
}

/// Compares bit for bit, as far as `==` tells bits apart.
///
/// # Errors
///
/// The first element that differs.
pub fn equal<T: PartialEq + Debug>(
    what: &'static str,
    found: &[T],
    expected: &[T],
) -> Result<(), Failure> {
    first_wrong(what, found, expected, |found, expected| found == expected)
}

/// Compares with a reference in `f64`, of which each element may be off by a share
/// `tolerance` of what it is, and by as much of 1 where it is smaller than that.
///
/// # Errors
///
/// The first element that is farther off.
pub fn close(
    what: &'static str,
    found: &[f32],
    expected: &[f64],
    tolerance: f64,
) -> Result<(), Failure> {
    first_wrong(what, found, expected, |&found, &expected| {
        (f64::from(found) - expected).abs() <= tolerance * expected.abs().max(1.0)
    })
}

/// Compares with what is exactly right, from which each element may be off by `distance`.
///
/// # Errors
///
/// The first element that is farther off.
pub fn within<T: Copy + Debug + Into<f64>>(
    what: &'static str,
    found: &[T],
    expected: &[f64],
    distance: f64,
) -> Result<(), Failure> {
    first_wrong(what, found, expected, |&found, &expected| {
        (found.into() - expected).abs() <= distance
    })
}

fn first_wrong<F: Debug, E: Debug>(
    what: &'static str,
    found: &[F],
    expected: &[E],
    is_right: impl Fn(&F, &E) -> bool,
) -> Result<(), Failure> {
    if found.len() != expected.len() {
        return Err(Failure::Length { what, found: found.len(), expected: expected.len() });
    }
    let mut pairs = found.iter().zip(expected).enumerate();
    match pairs.find(|(_, (found, expected))| !is_right(found, expected)) {
        None => Ok(()),
        Some((at, (found, expected))) => Err(Failure::Wrong {
            what,
            at,
            found: format!("{found:?}"),
            expected: format!("{expected:?}"),
        }),
    }
}
