//! The product of two matrices: its factors, its reference, its cost.

use super::{Cost, Failure, close, floats};

/// The factors of `c = a · b`, row-major, and how their product is compared.
#[derive(Debug)]
pub struct Product {
    /// `[m, k]`.
    pub a: Vec<f32>,
    /// `[k, n]`.
    pub b: Vec<f32>,
    /// `m`, `k` and `n`.
    pub extents: [usize; 3],
}

impl Product {
    /// Factors of numbers from -1 to 1.
    ///
    /// # Errors
    ///
    /// Where the machine has no memory for them.
    pub fn new(extents: [usize; 3]) -> Result<Self, Failure> {
        Self::seeded(1, extents)
    }

    /// Others for each odd `seed`.
    ///
    /// # Errors
    ///
    /// Where the machine has no memory for them.
    pub fn seeded(seed: u64, extents: [usize; 3]) -> Result<Self, Failure> {
        let [m, k, n] = extents;
        Ok(Self { a: floats(seed, m * k)?, b: floats(seed + 1, k * n)?, extents })
    }

    /// Compares `c` with the product: all rows, or [`sample`]s of many. An element may be
    /// off by one rounding of 1 for each of its terms.
    ///
    /// # Errors
    ///
    /// The first element that is farther off.
    pub fn verify(&self, c: &[f32]) -> Result<(), Failure> {
        let [m, k, n] = self.extents;
        if c.len() != m * n {
            return Err(Failure::Length { what: "c", found: c.len(), expected: m * n });
        }
        for row in sample(m) {
            let expected = row_times(&widened(&self.a[row * k..][..k]), &self.b, n);
            close("c", &c[row * n..][..n], &expected, roundings(k))?;
        }
        Ok(())
    }

    /// Both factors and the product once, and a multiplication and an addition for each
    /// of an element's terms.
    pub fn cost(&self) -> Cost {
        let [m, k, n] = self.extents.map(|extent| extent as f64);
        Cost { bytes: 4.0 * (m * k + k * n + m * n), flops: 2.0 * m * k * n }
    }
}

/// `row · matrix`, the matrix row-major and of `cols` columns.
pub fn row_times(row: &[f64], matrix: &[f32], cols: usize) -> Vec<f64> {
    let mut product = vec![0.0; cols];
    for (k, &factor) in row.iter().enumerate() {
        let of_matrix = &matrix[k * cols..][..cols];
        product.iter_mut().zip(of_matrix).for_each(|(sum, &b)| *sum += factor * f64::from(b));
    }
    product
}

/// The same numbers in `f64`.
pub fn widened(values: &[f32]) -> Vec<f64> {
    values.iter().copied().map(f64::from).collect()
}

/// What a sum of `n` terms may be off by, as a tolerance of [`close`].
pub fn roundings(n: usize) -> f64 {
    f64::from(f32::EPSILON) * n.max(1) as f64
}

/// All numbers below `n`, or where these are more than 64 so many, spread evenly, with
/// the first and the last.
pub fn sample(n: usize) -> Vec<usize> {
    const MOST: usize = 64;
    if n <= MOST { (0..n).collect() } else { (0..MOST).map(|i| i * (n - 1) / (MOST - 1)).collect() }
}
