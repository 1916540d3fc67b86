//! Where reads of tensors with a default pad are outside of them.

use super::super::algebra::formula::Formula;
use super::super::algebra::poly::Poly;
use super::super::walk::begin;
use super::super::walk::{Site, Walk};
use crate::check::Uniformity;
use crate::kernel::{Access, ArrayRef, Edge, Kernel, Source};
use crate::span::SpanId;

/// What holds where a read is made and is outside.
#[derive(Debug)]
pub(in super::super) struct Beyond {
    /// That it is made.
    guards: Formula,
    /// By axis: that it is before the first element, and that it is past the last.
    axes: Vec<[Formula; 2]>,
}

impl Walk<'_> {
    /// Notes where a read of a tensor with a default pad is outside of it.
    pub(in super::super) fn note_outside(
        &mut self,
        read: Source,
        access: &Access,
        indices: &[Poly],
    ) {
        let ArrayRef::Tensor(tensor) = access.array else { return };
        let has_default = self.kernel.tensors[tensor].edge == Edge::DefaultPad;
        if !self.recording || self.outside.is_none() || !has_default {
            return;
        }
        let extents = self.extents(access.array);
        let sides = |(index, extent): (&Poly, &Poly)| {
            [Formula::lt(index, &Poly::default()), Formula::le(extent, index)]
        };
        let axes = indices.iter().zip(&extents).map(sides).collect();
        let guards = Formula::All(self.guards.clone());
        if let Some(outside) = &mut self.outside {
            outside.entry(read).or_default().push(Beyond { guards, axes });
        }
    }
}

/// Where a kernel's reads can be, at all sizes that a launch may have and whatever else the
/// kernel assumes.
pub(crate) struct Reads<'a>(Walk<'a>);

impl<'a> Reads<'a> {
    /// Reads a kernel.
    pub(crate) fn of(kernel: &'a Kernel, uniformity: &'a Uniformity) -> Self {
        Self(begin::walk_reads(kernel, uniformity))
    }

    /// Whether a read of a tensor with a default pad is inside along an axis whenever it
    /// is made.
    pub(crate) fn are_inside(&self, read: Source, axis: usize) -> bool {
        self.all(read, |beyond| {
            let [below, above] = beyond.axes.get(axis)?;
            Some(self.is_never(&beyond.guards, &below.clone().or(above.clone())))
        })
    }

    /// Whether it is never before the first element.
    pub(crate) fn are_natural(&self, read: Source, axis: usize) -> bool {
        self.all(read, |beyond| {
            let [below, _] = beyond.axes.get(axis)?;
            Some(self.is_never(&beyond.guards, below))
        })
    }

    /// Whether such a read is inside along an axis wherever the store at a place in the text
    /// is, of one work-item and in the same iterations of the loops around both.
    pub(crate) fn are_inside_with(&self, (read, axis): (Source, usize), store: SpanId) -> bool {
        let is_store = |site: &&Site| site.span == store && site.kind.writes();
        let stores = self.0.sites.iter().filter(is_store);
        let stores: Vec<Formula> = stores.map(|site| self.0.is_made(site)).collect();
        !stores.is_empty()
            && self.all(read, |beyond| {
                let [below, above] = beyond.axes.get(axis)?;
                let here = beyond.guards.clone().and(below.clone().or(above.clone()));
                let is_never = |store: &Formula| self.0.is_never(&here.clone().and(store.clone()));
                Some(stores.iter().all(is_never))
            })
    }

    /// Whether something is so each time that a read is made, and it is known when that is.
    fn all(&self, read: Source, is_so: impl Fn(&Beyond) -> Option<bool>) -> bool {
        let found = self.0.outside.as_ref().and_then(|outside| outside.get(&read));
        found.is_some_and(|found| found.iter().all(|beyond| is_so(beyond) == Some(true)))
    }

    /// Whether one case never is where `guards` hold, or at no point of a loop that a block
    /// shares out.
    fn is_never(&self, guards: &Formula, case: &Formula) -> bool {
        self.0.is_never_at_points(case) || self.0.is_never(&guards.clone().and(case.clone()))
    }
}
