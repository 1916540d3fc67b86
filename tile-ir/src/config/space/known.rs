//! What walks through a space have found out about values that go together.

use std::collections::HashMap;

use super::factors::{Choice, Depths};
use super::{Point, Space};

/// Of each depth, by its value and those that it needs: who is to blame where it is
/// refused. A walk comes by the same ones again and again, and asking takes long.
#[derive(Clone, Debug, Default)]
pub(super) struct Known {
    of_depths: Vec<HashMap<Point, Option<Depths>>>,
    /// Room for a question.
    asked: Point,
}

impl Known {
    /// [`Space::refusal`], remembered.
    pub(super) fn refusal(&mut self, space: &Space<'_>, values: &[u32]) -> Option<Depths> {
        let depth = values.len().checked_sub(1)?;
        let factor = &space.factors[depth];
        if !is_remembered(factor.choice) || values.len() == space.factors.len() {
            return space.refusal(values);
        }
        self.asked.clear();
        let is_asked = |at: usize| at == depth || factor.needs >> at & 1 == 1;
        self.asked.extend((0..=depth).filter(|&at| is_asked(at)).map(|at| values[at]));
        self.of_depths.resize_with(space.factors.len().max(self.of_depths.len()), HashMap::new);
        let known = &mut self.of_depths[depth];
        if let Some(&refusal) = known.get(&self.asked) {
            return refusal;
        }
        let refusal = space.refusal(values);
        known.insert(self.asked.clone(), refusal);
        refusal
    }
}

/// Whether the question takes long, and its answer depends on no more than
/// [`super::factors::Factor::needs`] says.
fn is_remembered(choice: Choice) -> bool {
    match choice {
        Choice::Tile(_)
        | Choice::PhaseParts
        | Choice::Stages
        | Choice::UnrollStages
        | Choice::AsyncBytes
        | Choice::PredicateCopies
        | Choice::Slices
        | Choice::Items(_)
        | Choice::Warp
        | Choice::PairedLanes
        | Choice::ByColumns
        | Choice::Run(_)
        | Choice::Threads
        | Choice::MinBlocks => true,
        // What slices exchange depends on how items lie on threads.
        Choice::Padding => false,
        Choice::CopyBytes
        | Choice::FragmentBuffers
        | Choice::AlignBytes
        | Choice::WholeVectors
        | Choice::UnrolledStmts
        | Choice::SplitEdges
        | Choice::Stream
        | Choice::RasterRows => false,
    }
}
