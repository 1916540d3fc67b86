//! Elements in row-major order.

/// The indices of the element of this number, the last axis the fastest. An axis without
/// elements counts as one of one.
pub fn position(shape: &[usize], mut number: usize) -> Vec<usize> {
    let mut indices: Vec<usize> = shape
        .iter()
        .rev()
        .map(|extent| {
            let extent = (*extent).max(1);
            let at = number % extent;
            number /= extent;
            at
        })
        .collect();
    indices.reverse();
    indices
}
