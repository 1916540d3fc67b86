//! The product again, in f64 and by plain loops, and how far a result may be off.

use std::fmt;

use crate::matrix::Matrix;

/// Multiply-adds that a check may take: about two seconds. Larger products are
/// checked in some of their rows, and the output says in how many.
const MOST_STEPS: usize = 1 << 31;

/// What a check has found.
pub(crate) struct Check {
    /// The largest error of an element, relative to the sum of its terms'
    /// magnitudes; NaN where an element is NaN and should not be.
    largest: f64,
    allowed: f64,
    rows: usize,
    of_rows: usize,
}

impl Check {
    pub(crate) fn passed(&self) -> bool {
        self.largest <= self.allowed
    }
}

impl fmt::Display for Check {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "error    {:.1e} at most, {:.1e} allowed", self.largest, self.allowed)?;
        write!(f, " ({} of {} rows checked)", self.rows, self.of_rows)
    }
}

/// Compares `c` with `a · b`.
///
/// An f32 sum of k products, each step rounded once, is off by at most
/// k · 2⁻²⁴ · Σ|aᵢ·bᵢ|, in whatever order it is summed (Higham, "Accuracy and
/// Stability of Numerical Algorithms", 2002, section 3.1); two more steps stand
/// for a product that is rounded by itself and for this reference's own rounding.
pub(crate) fn check(a: &Matrix, b: &Matrix, c: &Matrix) -> Check {
    let steps_per_row = (a.cols * b.cols).max(1);
    let rows = (MOST_STEPS / steps_per_row).clamp(1, a.rows.max(1)).min(a.rows);
    let allowed = (a.cols + 2) as f64 * f64::from(f32::EPSILON) / 2.0;
    let mut largest = 0.0;
    for checked in 0..rows {
        // Spread from the first row to the last.
        let row = if rows > 1 { checked * (a.rows - 1) / (rows - 1) } else { 0 };
        for error in row_errors(a, b, c, row) {
            largest = if error <= largest { largest } else { error };
        }
    }
    Check { largest, allowed, rows, of_rows: a.rows }
}

/// The relative error of each element of a row.
fn row_errors(a: &Matrix, b: &Matrix, c: &Matrix, row: usize) -> Vec<f64> {
    let mut sums = vec![(0.0, 0.0); b.cols];
    for (k, &factor) in a.values[row * a.cols..][..a.cols].iter().enumerate() {
        for (sum, &other) in sums.iter_mut().zip(&b.values[k * b.cols..][..b.cols]) {
            let product = f64::from(factor) * f64::from(other);
            sum.0 += product;
            sum.1 += product.abs();
        }
    }
    let found = &c.values[row * c.cols..][..c.cols];
    let errors = found.iter().zip(sums).map(|(&value, (sum, magnitude))| {
        let error = (f64::from(value) - sum).abs();
        if error == 0.0 { 0.0 } else { error / magnitude }
    });
    errors.collect()
}
