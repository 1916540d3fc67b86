//! What work-items do alike, done by one of them.

use super::super::hash::Map;
use super::super::plan::Node;
use super::super::value::Value;
use super::{Frame, Machine, Stop, Team};
use crate::arena::EntityId as _;
use crate::kernel::VarId;

/// After so many work-items it is asked whether many of them are alike.
const FIRST: usize = 32;

impl<'a> Machine<'a> {
    /// Runs what each work-item of a team does by itself, one statement after the other: of
    /// those that do one alike, the first. In which order work-items come to statements between
    /// two barriers shows nowhere.
    pub(super) fn in_turn(
        &mut self,
        nodes: &'a [Node<'a>],
        frames: &mut [Frame],
        team: Team,
    ) -> Result<(), Stop> {
        for node in nodes {
            if let Node::Alike { node, inputs, outputs } = node {
                self.by_first((node, inputs, outputs), frames, team)?;
                continue;
            }
            for (item, frame) in frames.iter_mut().enumerate() {
                self.set_worker(team.first + item);
                self.item(node, frame)?;
            }
        }
        Ok(())
    }

    fn by_first(
        &mut self,
        (node, inputs, outputs): (&'a Node<'a>, &[VarId], &[VarId]),
        frames: &mut [Frame],
        team: Team,
    ) -> Result<(), Stop> {
        let mut first_of: Map<Vec<Value>, usize> = Map::default();
        let mut may_be_alike = true;
        for item in 0..frames.len() {
            may_be_alike &= item != FIRST || 4 * first_of.len() <= 3 * FIRST;
            if may_be_alike {
                let key = inputs.iter().map(|var| frames[item][var.index()]).collect();
                if let Some(first) = first_of.get(&key) {
                    for var in outputs {
                        frames[item][var.index()] = frames[*first][var.index()];
                    }
                    continue;
                }
                first_of.insert(key, item);
            }
            self.set_worker(team.first + item);
            self.item(node, &mut frames[item])?;
        }
        Ok(())
    }
}
