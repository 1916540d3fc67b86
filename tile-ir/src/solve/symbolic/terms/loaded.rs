//! Loaded integers of tensors that the kernel never writes: each is a function
//! of its position.

use super::super::algebra::formula::Formula;
use super::super::algebra::poly::{Poly, Unknown};
use super::super::algebra::symbol::{Obstacle, Sharing, Symbol};
use super::super::walk::{Value, Walk};
use super::integers::range_of;
use crate::kernel::{Access, ArrayRef, Edge, ExprId, TensorId, Type};
use crate::span::SpanId;

/// An element of a tensor that is never written.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in super::super) struct Element {
    pub(in super::super) tensor: TensorId,
    pub(in super::super) indices: Vec<Poly>,
    /// What is read outside.
    pub(in super::super) pad: Poly,
}

impl Walk<'_> {
    /// The value of a load: the symbol that is the same for the same position.
    /// `None` where its position is not known, or its type no integer.
    pub(in super::super) fn loaded(
        &mut self,
        expr: ExprId,
        access: &Access,
        at: &[Poly],
    ) -> Option<Value> {
        let ArrayRef::Tensor(tensor) = access.array else { return None };
        let ty = self.kernel.exprs[expr].ty;
        // Known to the block though not by its parts: left to the caller.
        let is_private = at.iter().flat_map(Poly::unknowns).any(|of| self.is_private(of));
        let is_agreed = self.uniformity.is_uniform_expr(expr) && is_private;
        let range = range_of(ty)?;
        if self.is_written(access.array) || at.iter().any(Poly::is_lost) || is_agreed {
            return None;
        }
        let pad = match self.kernel.tensors[tensor].edge {
            Edge::DefaultPad | Edge::Rule(_) => Poly::default(),
            Edge::Pad(value) => self.index(value),
        };
        let element = Element { tensor, indices: at.to_vec(), pad };
        if let Some(known) = self.known_element(&element) {
            return Some(Value::Int(known));
        }
        for extent in self.kernel.extents(access.array) {
            let value = self.index(*extent);
            self.extents_of_arrays.insert(*extent, value);
        }
        let obstacle = (self.kernel.exprs[expr].span, Obstacle::Load);
        Some(Value::Int(self.new_element(element, range, Some(obstacle))))
    }

    /// The element of a loaded value's tensor at another position.
    pub(in super::super) fn loaded_at(&mut self, loaded: Unknown, at: Vec<Poly>) -> Option<Poly> {
        let element = Element { indices: at, ..self.elements.get(&loaded)?.clone() };
        if let Some(known) = self.known_element(&element) {
            return Some(known);
        }
        let ty = Type::Scalar(self.kernel.tensors[element.tensor].elem);
        let obstacle = self.symbols.get(loaded)?.obstacle;
        Some(self.new_element(element, range_of(ty)?, obstacle))
    }

    /// The value of an element that has been read.
    pub(in super::super) fn known_element(&self, element: &Element) -> Option<Poly> {
        let (known, _) = self.elements.iter().find(|(_, other)| *other == element)?;
        Some(Poly::unknown(*known))
    }

    /// An element of which no more is known than its type's range.
    fn new_element(
        &mut self,
        element: Element,
        (min, max): (i128, i128),
        obstacle: Option<(SpanId, Obstacle)>,
    ) -> Poly {
        let value = Poly::unknown(self.symbols.next());
        let (least, most) = (Poly::constant(min), Poly::constant(max));
        let of = element.indices.iter().flat_map(Poly::unknowns).collect();
        let unknown = self.symbols.push(Symbol {
            sharing: Sharing::Function(of),
            loops: self.loops.clone(),
            low: Some(min),
            facts: Formula::le(&least, &value).and(Formula::le(&value, &most)),
            obstacle,
        });
        self.elements.insert(unknown, element);
        value
    }

    /// Whether a symbol may differ between the work-items of a block.
    pub(in super::super) fn is_private(&self, unknown: Unknown) -> bool {
        self.symbols.get(unknown).is_none_or(|symbol| match &symbol.sharing {
            Sharing::Private => true,
            Sharing::Function(of) => of.iter().any(|other| self.is_private(*other)),
            Sharing::Launch | Sharing::Block | Sharing::Iteration(_) => false,
        })
    }
}
