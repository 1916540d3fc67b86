//! TK0202: a default pad that changes a stored result.
//!
//! A read outside a tensor's shape gives 0 where the author names no pad. That
//! 0 is followed to the tensors it could be stored in: through variables, tiles,
//! conditions and indices. It is accepted where one of these shows that no
//! stored result depends on it:
//!
//! 1. the read cannot be outside: by the ranges of what its index is made of, by
//!    a condition around it (`i < N`, `in_bounds(a[i])`), or by the proof that the
//!    race rules use ([`crate::solve::symbolic`]);
//! 2. whenever the read is outside, the store is outside too, and dropped;
//! 3. it enters `x += e` (also `-=`, `|=`, `^=`) and makes `e` 0: `e` is the
//!    element itself, or a product in which another factor is padded under the
//!    same condition. A factor that is not could be infinite, and 0 times that
//!    is no 0; integers and numbers in the text are not.
//!
//! Anything else is an error: the author writes the pad, or asks `in_bounds`.
//! Loops are followed until nothing changes; what an earlier iteration left
//! behind never agrees with a store of this one.

mod exprs;
mod facts;
mod state;
mod stmts;
mod stores;
mod value;

use std::cell::OnceCell;
use std::collections::BTreeSet;

use self::state::State;
use self::value::Value;
use super::poly::{Bounds, Poly};
use super::uniform::Uniformity;
use crate::diag::Diagnostics;
use crate::dtype::Bound;
use crate::kernel::{ElemType, Kernel, Source, Type, VarId};
use crate::solve::symbolic::Reads;
use crate::span::SpanId;

/// Reports each read whose default pad can change a stored result.
pub(super) fn check_pads(kernel: &Kernel, uniformity: &Uniformity, diags: &mut Diagnostics) {
    let mut cx = Flow {
        kernel,
        loops: Vec::new(),
        bounds: Bounds::new(kernel),
        facts: Vec::new(),
        control: Value::default(),
        conditional: false,
        points: None,
        reported: BTreeSet::new(),
        uniformity,
        reads: OnceCell::new(),
        diags,
    };
    cx.walk(&kernel.body, &mut State::default());
}

struct Flow<'a> {
    kernel: &'a Kernel,
    /// The keywords of the loops around.
    loops: Vec<SpanId>,
    bounds: Bounds<'a>,
    /// What is at least 0 here, by the conditions around.
    facts: Vec<Poly>,
    /// What decides whether this point is reached.
    control: Value,
    /// Whether a condition stands around that may part the block, inside the innermost
    /// `each` or not.
    conditional: bool,
    /// Inside an `each`: its indices.
    points: Option<Vec<VarId>>,
    reported: BTreeSet<Source>,
    uniformity: &'a Uniformity,
    /// Where reads can be, by proof for all sizes; asked only before a report.
    reads: OnceCell<Reads<'a>>,
    diags: &'a mut Diagnostics,
}

/// Whether no value of the type is infinite or NaN.
fn is_exact(kernel: &Kernel, ty: Type) -> bool {
    match ty {
        Type::Index => true,
        Type::Scalar(ElemType::Concrete(dtype)) => !dtype.is_float(),
        Type::Scalar(ElemType::Param(id) | ElemType::Acc(id)) => {
            kernel.type_params[id].bound == Bound::Integer
        }
    }
}
