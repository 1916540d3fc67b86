//! Random inputs, and the places where large outputs are compared.

use rayon::prelude::*;

/// Elements that are made at random; longer inputs repeat them. A prime, so that
/// no two rows of a matrix hold the same.
const PERIOD: usize = 1_048_583;

/// Elements of a large output that are compared with the reference, spread over
/// it: so many that every tile has some.
const SPREAD: usize = 1 << 14;

/// `n` random values.
pub(crate) fn random<T: Copy>(n: usize, seed: u64, one: fn(&mut fastrand::Rng) -> T) -> Vec<T> {
    let mut rng = fastrand::Rng::with_seed(seed);
    let period: Vec<T> = (0..n.min(PERIOD)).map(|_| one(&mut rng)).collect();
    let mut values = Vec::with_capacity(n);
    while values.len() < n {
        let rest = n - values.len();
        values.extend_from_slice(&period[..rest.min(period.len())]);
    }
    values
}

/// Compares elements of an output of the shape (rows, columns): all of the last
/// row and column, and of the others one at random in every part of equal length.
/// `check` says how far the element at a row and a column is off, or what is
/// wrong with it; the greatest deviation comes back.
pub(crate) fn compare_spread(
    [rows, cols]: [usize; 2],
    check: impl Fn(usize, usize) -> Result<f64, String> + Send + Sync,
) -> Result<f64, String> {
    let n = rows * cols;
    let mut rng = fastrand::Rng::with_seed(3);
    let part = n.div_ceil(SPREAD).max(1);
    let inner = (0..n.div_ceil(part)).map(|at| (at * part + rng.usize(..part)).min(n - 1));
    let mut places: Vec<usize> = inner.collect();
    if n > 0 {
        places.extend(n - cols..n);
        places.extend((0..rows).map(|row| row * cols + cols - 1));
    }
    greatest(places.into_par_iter().map(|place| check(place / cols, place % cols)))
}

/// Compares every element; as [`compare_spread`].
pub(crate) fn compare_all(
    n: usize,
    check: impl Fn(usize) -> Result<f64, String> + Send + Sync,
) -> Result<f64, String> {
    greatest((0..n).into_par_iter().with_min_len(1 << 16).map(check))
}

fn greatest(deviations: impl ParallelIterator<Item = Result<f64, String>>) -> Result<f64, String> {
    deviations.try_reduce(|| 0.0, |one, other| Ok(one.max(other)))
}

/// Demands that the element at `place` is `expected`.
pub(crate) fn same<T: PartialEq + std::fmt::Debug>(
    place: impl std::fmt::Debug,
    found: T,
    expected: T,
) -> Result<f64, String> {
    if found == expected {
        return Ok(0.0);
    }
    Err(format!("element {place:?} is {found:?} and should be {expected:?}"))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::sync::Mutex;

    use super::*;

    #[test]
    fn long_inputs_repeat_and_short_ones_do_not() {
        let values = random(PERIOD + 10, 1, |rng| rng.u32(..));
        assert_eq!(values[..10], values[PERIOD..]);
        assert_eq!(values.iter().take(PERIOD).collect::<BTreeSet<_>>().len() >> 19, 1);
        assert_eq!(random(10, 1, |rng| rng.u32(..)), values[..10]);
    }

    #[test]
    fn places_are_everywhere_and_at_the_edges() {
        let seen = Mutex::new(BTreeSet::new());
        let shape = [1000, 700];
        let deviation = compare_spread(shape, |row, col| {
            seen.lock().unwrap().insert((row, col));
            Ok(if (row, col) == (999, 0) { 2.0 } else { 1.0 })
        });
        assert_eq!(deviation, Ok(2.0));
        let seen = seen.into_inner().unwrap();
        assert!((0..700).all(|col| seen.contains(&(999, col))));
        assert!((0..1000).all(|row| seen.contains(&(row, 699))));
        for tile in 0..15 * 10 {
            let (top, left) = (tile / 10 * 64, tile % 10 * 64);
            let inside = |&&(row, col): &&(usize, usize)| {
                (top..top + 64).contains(&row) && (left..left + 64).contains(&col)
            };
            assert!(seen.iter().filter(inside).count() > 10);
        }
        assert!(compare_spread(shape, |row, col| same((row, col), row, 999)).is_err());
        assert_eq!(compare_spread([0, 5], |_, _| Err("none is there".to_owned())), Ok(0.0));
    }

    #[test]
    fn every_element_is_compared() {
        assert_eq!(compare_all(70_000, |at| Ok(at as f64)), Ok(69_999.0));
        let error = compare_all(70_000, |at| same(at, at / 69_999, 0)).unwrap_err();
        assert_eq!(error, "element 69999 is 1 and should be 0");
    }
}
