//! Walks beside the walk: a round of a loop that is asked about once more.

use std::collections::BTreeMap;

use super::{Value, Walk};
use crate::kernel::VarId;

impl Walk<'_> {
    /// Walks something with variables as they are in `env`. Nothing that it reads or writes is
    /// noted, nor what it sets.
    pub(in super::super) fn aside<T>(
        &mut self,
        env: BTreeMap<VarId, Value>,
        walk: impl FnOnce(&mut Self) -> T,
    ) -> T {
        let recording = std::mem::replace(&mut self.recording, false);
        let contents = std::mem::take(&mut self.held.contents);
        let (ended, settled) = (self.held.ended, self.settled());
        let exits = self.exits.clone();
        let after = std::mem::replace(&mut self.env, env);
        let found = walk(self);
        self.env = after;
        self.exits = exits;
        self.own_cells.settled = settled;
        self.held.ended = ended;
        self.held.contents = contents;
        self.recording = recording;
        found
    }
}
