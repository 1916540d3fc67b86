//! Variables that are one number for the whole launch, once a loop is over.
//!
//! `let mut p = 1; while p < n { p *= 2; }` computes the same in every work-item of every
//! block, of which a block's uniformity does not speak: `bx` is one value for a block, too.
//! But a variable depends on numbers of the launch if all that is assigned to it, and all
//! that decides whether and how often, is made of such ([`launched_vars`]). After a loop that
//! stands in no other one, all have run the same iterations; in the middle of a loop two
//! blocks need not be in the same one, so nothing is said there.

use super::super::algebra::poly::Unknown;
use super::super::walk::{Value, Walk};
use crate::arena::EntityId as _;
use crate::check::launched_vars;
use crate::kernel::VarId;

impl Walk<'_> {
    /// Notes that what a variable is after a loop is one number of the launch, if it is so:
    /// of its unknowns those from `from` on, which are of the loop.
    pub(in super::super) fn note_launched(&mut self, var: VarId, value: &Value, from: Unknown) {
        if !self.loops.is_empty() || self.is_in_point() {
            return;
        }
        let Value::Int(value) = value else { return };
        let kernel = self.kernel;
        if self.launched.get_or_init(|| launched_vars(kernel)).get(var.index()) == Some(&true) {
            let of_loop = value.unknowns().filter(|unknown| *unknown >= from);
            of_loop.for_each(|unknown| self.symbols.set_launch(unknown));
        }
    }
}
