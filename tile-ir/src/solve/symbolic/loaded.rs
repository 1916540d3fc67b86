//! Loaded integers of tensors that the kernel never writes: each is a function
//! of its position.

use super::formula::Formula;
use super::poly::{Poly, Unknown};
use super::symbol::{Obstacle, Sharing, Symbol};
use super::walk::{Value, Walk};
use crate::kernel::{Access, ArrayRef, Edge, ExprId, TensorId};

/// An element of a tensor that is never written.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Element {
    pub(super) tensor: TensorId,
    pub(super) indices: Vec<Poly>,
    /// What is read outside.
    pub(super) pad: Poly,
}

impl Walk<'_> {
    /// The value of a load: the symbol that is the same for the same position.
    /// `None` where its position is not known, or its type no integer.
    pub(super) fn loaded(&mut self, expr: ExprId, access: &Access, at: &[Poly]) -> Option<Value> {
        let ArrayRef::Tensor(tensor) = access.array else { return None };
        let ty = self.kernel.exprs[expr].ty;
        let of: Vec<Unknown> = at.iter().flat_map(Poly::unknowns).collect();
        // Known to the block though not by its parts: left to the caller.
        let is_private = of.iter().any(|unknown| self.is_private(*unknown));
        let is_agreed = self.uniformity.is_uniform_expr(expr) && is_private;
        let range = super::integers::range_of(ty)?;
        if self.is_written(access.array) || at.iter().any(Poly::is_lost) || is_agreed {
            return None;
        }
        let pad = match self.kernel.tensors[tensor].edge {
            Edge::DefaultPad | Edge::Rule(_) => Poly::default(),
            Edge::Pad(value) => self.index(value),
        };
        let element = Element { tensor, indices: at.to_vec(), pad };
        let known = self.elements.iter().find(|(_, other)| *other == &element);
        if let Some((unknown, _)) = known {
            return Some(Value::Int(Poly::unknown(*unknown)));
        }
        for extent in self.kernel.extents(access.array) {
            let value = self.index(*extent);
            self.extents_of_arrays.insert(*extent, value);
        }
        let value = Poly::unknown(self.symbols.next());
        let (least, most) = (Poly::constant(range.0), Poly::constant(range.1));
        let unknown = self.symbols.push(Symbol {
            sharing: Sharing::Function(of),
            loops: self.loops.clone(),
            low: Some(range.0),
            facts: Formula::le(&least, &value).and(Formula::le(&value, &most)),
            obstacle: Some((self.kernel.exprs[expr].span, Obstacle::Load)),
        });
        self.elements.insert(unknown, element);
        Some(Value::Int(value))
    }

    /// Whether a symbol may differ between the work-items of a block.
    pub(super) fn is_private(&self, unknown: Unknown) -> bool {
        self.symbols.get(unknown).is_none_or(|symbol| match &symbol.sharing {
            Sharing::Private => true,
            Sharing::Function(of) => of.iter().any(|other| self.is_private(*other)),
            Sharing::Launch | Sharing::Block | Sharing::Iteration(_) => false,
        })
    }
}
