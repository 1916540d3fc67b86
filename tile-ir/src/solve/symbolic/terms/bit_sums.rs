//! Which bits follow from sums of bits, modulo 2.
//!
//! Equations over the field of two elements: where `a ^ b`, `b ^ c` and `c` are known, all
//! three bits are. The text's `x ^ (x >> 1)` has one equation for each bit of `x`, each with
//! one bit more than the one above it, and determines all of them; `x ^ rotated(x)` has as
//! many, whose sum says nothing, and determines none.

use std::collections::{BTreeMap, BTreeSet};

use super::super::algebra::poly::Poly;

/// A bit of a natural, by its number.
pub(super) type BitOf = (Poly, u32);

/// Most bits of which sums are solved: as many as a word has.
const MAX_BITS: usize = u128::BITS as usize;

/// The bits that have one value wherever all these sums have the values that they have.
/// Where there are too many, those that stand alone.
pub(super) fn determined(sums: &[BTreeSet<BitOf>]) -> BTreeSet<BitOf> {
    let bits: BTreeSet<&BitOf> = sums.iter().flatten().collect();
    if bits.len() > MAX_BITS {
        let alone = sums.iter().filter(|sum| sum.len() == 1);
        return alone.flatten().cloned().collect();
    }
    let columns: BTreeMap<&BitOf, usize> =
        bits.iter().enumerate().map(|(at, bit)| (*bit, at)).collect();
    let row = |sum: &BTreeSet<BitOf>| sum.iter().fold(0, |row, bit| row | 1_u128 << columns[bit]);
    let rows = reduced(sums.iter().map(row).collect());
    let known = bits.into_iter().enumerate().filter(|(at, _)| rows.contains(&(1 << at)));
    known.map(|(_, bit)| bit.clone()).collect()
}

/// Rows of the same span, each with a column that no other has: a unit vector is in the span
/// only where it is one of them.
fn reduced(mut rows: Vec<u128>) -> Vec<u128> {
    for at in 0..rows.len() {
        let pivot = rows[at];
        if pivot == 0 {
            continue;
        }
        let column = 1 << pivot.trailing_zeros();
        for (other, row) in rows.iter_mut().enumerate() {
            if other != at && *row & column != 0 {
                *row ^= pivot;
            }
        }
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Which of so many bits sums of bits determine.
    fn known(sums: &[&[u32]]) -> Vec<u32> {
        let bit = |at: &u32| (Poly::constant(0), *at);
        let sums: Vec<BTreeSet<BitOf>> =
            sums.iter().map(|sum| sum.iter().map(bit).collect()).collect();
        determined(&sums).into_iter().map(|(_, at)| at).collect()
    }

    #[test]
    fn a_chain_with_an_end_determines_all() {
        assert_eq!(known(&[&[0, 1], &[1, 2], &[2, 3], &[3]]), [0, 1, 2, 3]);
    }

    #[test]
    fn a_ring_determines_nothing() {
        assert_eq!(known(&[&[0, 1], &[1, 2], &[2, 0]]), [0; 0]);
    }

    #[test]
    fn three_of_each_determine_all_but_where_the_ring_has_a_third_of_them() {
        assert_eq!(known(&[&[0, 1, 2], &[1, 2, 3], &[2, 3, 0], &[3, 0, 1]]), [0, 1, 2, 3]);
        assert_eq!(known(&[&[0, 1, 2], &[1, 2, 0], &[2, 0, 1]]), [0; 0]);
    }

    #[test]
    fn what_is_not_in_a_sum_with_others_is_known_alone() {
        assert_eq!(known(&[&[4], &[0, 1]]), [4]);
    }
}
