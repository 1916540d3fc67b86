//! The work that is measured.

mod add;
mod batched;
mod field;
mod product;
mod transpose;

use crate::case::Case;

/// All work, in the order in which it is measured; or small shapes of it.
pub(crate) fn cases(quick: bool) -> Vec<Case> {
    let mut cases = product::matmuls(quick);
    cases.extend(transpose::cases(quick));
    cases.extend(add::cases(quick));
    cases.extend(product::others(quick));
    cases.extend(batched::cases(quick));
    cases.extend(field::cases(quick));
    cases
}
