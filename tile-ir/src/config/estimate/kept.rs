//! What of its reads a thread has in registers already: its items' reads overlap, and the
//! compiler makes one of what is alike.

use super::count::{Domain, Walk};
use crate::kernel::{Access, ArrayRef, ExprId, VarId};

/// A loop that is gone through.
#[derive(Clone, Copy, Debug)]
pub(super) struct Loop {
    /// Its counter.
    pub(super) var: VarId,
    /// Its iterations, at least one.
    pub(super) trips: f64,
    /// From one value of the counter to the next.
    pub(super) step: f64,
    /// Whether its iterations are written out one after the other.
    pub(super) is_written_out: bool,
}

/// What was read since the items of the block last met.
#[derive(Default)]
pub(super) struct Kept(Vec<(ArrayRef, Vec<ExprId>)>);

impl Walk<'_, '_> {
    /// Forgets what threads have read: what follows is another text, or others have written.
    pub(super) fn forget(&mut self) {
        self.kept.0.clear();
    }

    /// The part of an access's elements that a thread does not have yet, and remembers the
    /// access: of the present layout, and the least that it is of any.
    pub(super) fn fresh_part(&mut self, access: &Access, domain: Domain<'_>) -> [f64; 2] {
        if !matches!(domain, Domain::Block) {
            return [1.0; 2];
        }
        let of_thread = |index| self.in_a_row(index);
        let of_any = |_| f64::INFINITY;
        let parts = [
            self.unseen(access, &of_thread) / self.overlapping(access, &of_thread),
            self.unseen(access, &of_any) / self.overlapping(access, &of_any),
        ];
        self.kept.0.push((access.array, access.indices.clone()));
        parts
    }

    /// Consecutive items of a thread along an index.
    fn in_a_row(&self, index: ExprId) -> f64 {
        let axes = self.sizes.block.iter().zip(&self.sizes.config.block);
        let along = axes.filter(|((var, _), _)| self.sizes.is_unit_stride(index, *var));
        along.map(|(_, items)| f64::from(items.run)).product()
    }

    /// The part of an access's elements that none before it has read.
    fn unseen(&self, access: &Access, in_a_row: &dyn Fn(ExprId) -> f64) -> f64 {
        let points: Vec<f64> = access.indices.iter().map(|&index| in_a_row(index)).collect();
        let of_array = self.kept.0.iter().filter(|(array, _)| *array == access.array);
        let in_common = of_array.map(|(_, known)| self.sizes.in_common(known, access, &points));
        1.0 - in_common.fold(0.0, f64::max)
    }

    /// How often a thread uses an element in the iterations that are written out.
    fn overlapping(&self, access: &Access, in_a_row: &dyn Fn(ExprId) -> f64) -> f64 {
        self.met_again(access, in_a_row, |it| it.is_written_out)
    }

    /// How often an access meets each of its elements in the iterations of loops, where these
    /// shift what it reads and each index has so many points.
    pub(super) fn met_again(
        &self,
        access: &Access,
        points: &dyn Fn(ExprId) -> f64,
        is_counted: impl Fn(&Loop) -> bool,
    ) -> f64 {
        let of_index = |&index: &ExprId| {
            let loops = self.loops.iter().filter(|it| is_counted(it));
            let shifting = loops.filter(|it| self.sizes.is_unit_stride(index, it.var));
            overlap(points(index), shifting)
        };
        access.indices.iter().map(of_index).product()
    }
}

/// How often each of so many neighbours is met by loops that shift them.
fn overlap<'a>(points: f64, loops: impl Iterator<Item = &'a Loop>) -> f64 {
    let (mut span, mut met, mut most) = (points, points, 1.0);
    for it in loops {
        span += (it.trips - 1.0) * it.step.min(span);
        met *= it.trips;
        most *= it.trips;
    }
    if points.is_finite() { met / span } else { most }
}
