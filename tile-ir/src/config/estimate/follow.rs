//! How expressions follow variables.

use std::collections::BTreeMap;

use crate::arena::EntityId as _;
use crate::kernel::{ExprId, ExprKind, Kernel, VarId, VarKind};
use crate::op::BinaryOp;

/// Variables in a word of a set.
const WORD: usize = u64::BITS as usize;

/// Of each expression, the variables that it follows, as sets of bits: a configuration asks
/// some hundred times, and there are thousands of configurations.
#[derive(Clone, Debug)]
pub(super) struct Follows {
    /// Words of a set.
    words: usize,
    /// With which variables each expression's value changes.
    depends: Vec<Option<Set>>,
    /// With which it grows one by one.
    strides: Vec<Option<Set>>,
}

/// A set of variables.
type Set = Box<[u64]>;

impl Follows {
    /// `sources` says of a variable what it follows: of `let`s that are never assigned again
    /// their definitions, of the counters of loops where these begin.
    pub(super) fn new(kernel: &Kernel, sources: &BTreeMap<VarId, ExprId>) -> Self {
        let none = || vec![None; kernel.exprs.len()];
        let words = kernel.vars.len().div_ceil(WORD);
        let mut follows = Self { words, depends: none(), strides: none() };
        for id in kernel.exprs.ids() {
            follows.visit(kernel, sources, id);
        }
        follows
    }

    /// Whether the value of `expr` changes with `var`, through `let`s and where loops begin.
    pub(super) fn depends(&self, expr: ExprId, var: VarId) -> bool {
        has(&self.depends, expr, var)
    }

    /// Whether `expr` grows by one when `var` does: `expr` is a sum in which
    /// `var` stands once.
    pub(super) fn is_unit_stride(&self, expr: ExprId, var: VarId) -> bool {
        has(&self.strides, expr, var)
    }

    /// Fills in the sets of an expression, and of what it is made of.
    fn visit(&mut self, kernel: &Kernel, sources: &BTreeMap<VarId, ExprId>, id: ExprId) {
        if self.depends[id.index()].is_some() {
            return;
        }
        let kind = &kernel.exprs[id].kind;
        let source = match kind {
            ExprKind::Var(var) => sources.get(var).copied(),
            _ => None,
        };
        let operands = kind.operands();
        let parts = operands.iter().copied().chain(source);
        parts.for_each(|part| self.visit(kernel, sources, part));
        let mut depends = self.empty();
        for part in operands.iter().copied().chain(source) {
            add(&mut depends, self.depends[part.index()].as_deref());
        }
        if let ExprKind::Var(var) = kind {
            let is_let = matches!(kernel.vars[*var].kind, VarKind::Let { .. });
            if is_let && source.is_none() {
                // A variable that is assigned again may depend on anything.
                depends.fill(u64::MAX);
            }
            insert(&mut depends, *var);
        }
        let strides = self.strides_of(kind, source);
        self.depends[id.index()] = Some(depends);
        self.strides[id.index()] = Some(strides);
    }

    fn strides_of(&self, kind: &ExprKind, source: Option<ExprId>) -> Set {
        let mut set = self.empty();
        match kind {
            ExprKind::Var(var) => {
                if let Some(source) = source {
                    add(&mut set, self.strides[source.index()].as_deref());
                }
                insert(&mut set, *var);
            }
            ExprKind::Cast(operand) | ExprKind::Uniform(operand) => {
                add(&mut set, self.strides[operand.index()].as_deref());
            }
            ExprKind::Binary { op: BinaryOp::Add, lhs, rhs } => {
                self.add_apart(&mut set, *lhs, *rhs);
                self.add_apart(&mut set, *rhs, *lhs);
            }
            ExprKind::Binary { op: BinaryOp::Sub, lhs, rhs } => {
                self.add_apart(&mut set, *lhs, *rhs);
            }
            ExprKind::Binary { .. }
            | ExprKind::Literal(_)
            | ExprKind::Load(_)
            | ExprKind::Unary { .. }
            | ExprKind::Compare { .. }
            | ExprKind::Logic { .. }
            | ExprKind::Select { .. }
            | ExprKind::Math { .. }
            | ExprKind::Tiles { .. }
            | ExprKind::InBounds { .. } => {}
        }
        set
    }

    /// Adds the variables with which `one` grows and `other` does not change.
    fn add_apart(&self, set: &mut Set, one: ExprId, other: ExprId) {
        let strides = self.strides[one.index()].iter().flatten();
        let depends = self.depends[other.index()].iter().flatten();
        for ((word, strides), depends) in set.iter_mut().zip(strides).zip(depends) {
            *word |= strides & !depends;
        }
    }

    fn empty(&self) -> Set {
        vec![0; self.words].into_boxed_slice()
    }
}

fn has(sets: &[Option<Set>], expr: ExprId, var: VarId) -> bool {
    let set = sets.get(expr.index()).and_then(Option::as_deref).unwrap_or_default();
    let word = set.get(var.index() / WORD).copied().unwrap_or_default();
    word >> (var.index() % WORD) & 1 == 1
}

fn insert(set: &mut Set, var: VarId) {
    if let Some(word) = set.get_mut(var.index() / WORD) {
        *word |= 1 << (var.index() % WORD);
    }
}

fn add(set: &mut Set, other: Option<&[u64]>) {
    for (word, other) in set.iter_mut().zip(other.unwrap_or_default()) {
        *word |= other;
    }
}
