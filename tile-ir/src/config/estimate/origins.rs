//! Where the values of expressions come from: what decides them, and when it is known.

use std::collections::BTreeMap;

use super::loops::Loops;
use crate::arena::EntityId as _;
use crate::kernel::{ExprId, ExprKind, Kernel, Type, VarId, VarKind};

/// Of each expression, where its value comes from.
#[derive(Clone, Debug)]
pub(super) struct Origins(Vec<Option<Origin>>);

#[derive(Clone, Copy, Debug)]
struct Origin {
    /// Whether stored data decide it.
    is_of_data: bool,
    /// Whether nothing that is only known when it runs, coordinates aside, is in it.
    is_placed: bool,
}

/// What is known of a text before its expressions are looked at.
struct Known<'a> {
    kernel: &'a Kernel,
    /// Definitions of the `let`s that are never assigned again, and where loops begin.
    sources: &'a BTreeMap<VarId, ExprId>,
    loops: &'a Loops,
}

impl Origins {
    pub(super) fn new(kernel: &Kernel, sources: &BTreeMap<VarId, ExprId>, loops: &Loops) -> Self {
        let known = Known { kernel, sources, loops };
        let mut origins = Self(vec![None; kernel.exprs.len()]);
        for id in kernel.exprs.ids() {
            origins.visit(&known, id);
        }
        origins
    }

    /// Whether stored data decide an expression's value.
    pub(super) fn is_of_data(&self, id: ExprId) -> bool {
        self.0.get(id.index()).copied().flatten().is_some_and(|origin| origin.is_of_data)
    }

    /// Whether nothing that is only known when it runs, coordinates aside, is in an index.
    pub(super) fn is_placed(&self, id: ExprId) -> bool {
        self.0.get(id.index()).copied().flatten().is_some_and(|origin| origin.is_placed)
    }

    fn visit(&mut self, known: &Known<'_>, id: ExprId) -> Origin {
        if let Some(origin) = self.0[id.index()] {
            return origin;
        }
        let origin = match &known.kernel.exprs[id].kind {
            ExprKind::Load(_) => Origin { is_of_data: true, is_placed: false },
            ExprKind::Var(var) => match known.sources.get(var) {
                Some(&source) if known.kernel.vars[*var].kind == VarKind::Loop => {
                    let is_of_data = self.visit(known, source).is_of_data;
                    Origin { is_of_data, ..known.of_variable(*var) }
                }
                Some(&source) => self.visit(known, source),
                None => known.of_variable(*var),
            },
            kind => {
                let none = Origin { is_of_data: false, is_placed: true };
                kind.operands().into_iter().fold(none, |all, operand| {
                    let one = self.visit(known, operand);
                    Origin {
                        is_of_data: all.is_of_data || one.is_of_data,
                        is_placed: all.is_placed && one.is_placed,
                    }
                })
            }
        };
        self.0[id.index()] = Some(origin);
        origin
    }
}

impl Known<'_> {
    /// That of a variable without one definition.
    fn of_variable(&self, id: VarId) -> Origin {
        let var = &self.kernel.vars[id];
        match var.kind {
            VarKind::Let { .. } => Origin { is_of_data: var.ty != Type::Index, is_placed: false },
            VarKind::Scalar(_) => Origin { is_of_data: false, is_placed: false },
            VarKind::Loop => Origin { is_of_data: false, is_placed: self.loops.is_short(id) },
            VarKind::Dim
            | VarKind::TileParam(_)
            | VarKind::Grid
            | VarKind::Block
            | VarKind::Each => Origin { is_of_data: false, is_placed: true },
        }
    }
}
