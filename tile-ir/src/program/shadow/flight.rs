//! Copies in flight.

use super::cell::Mark;
use super::machine::Machine;
use super::memory::Address;
use crate::kernel::AccessKind;
use crate::program::{Target, TokenId};

/// A copy whose statement has run.
#[derive(Clone, Copy, Debug)]
struct Copy {
    dst: (Target, Address),
    /// Where it reads, unless outside of the source's shape.
    src: Option<Address>,
    mark: Mark,
}

/// A closed group, or the copies since the last one.
#[derive(Debug, Default)]
struct Groups {
    closed: Vec<Vec<Copy>>,
    open: Vec<Copy>,
}

/// All that is in flight, by token.
#[derive(Debug, Default)]
pub(super) struct Flight {
    tokens: std::collections::BTreeMap<TokenId, Groups>,
}

impl Machine<'_> {
    /// Enters an asynchronous copy: from now on until it lands its elements are
    /// nobody else's.
    pub(super) fn issue(
        &mut self,
        token: TokenId,
        dst: (Target, Address),
        src: Option<(Target, Address)>,
        mark: Mark,
    ) {
        self.enter(dst.0, dst.1, mark, AccessKind::Write);
        for cell in self.memories[dst.1.memory].cells(dst.1) {
            cell.incoming = Some(mark);
        }
        if let Some((target, at)) = src {
            self.enter(target, at, mark, AccessKind::Read);
            for cell in self.memories[at.memory].cells(at) {
                let n = cell.outgoing.map_or(0, |(_, n)| n);
                cell.outgoing = Some((mark, n + 1));
            }
        }
        let copy = Copy { dst, src: src.map(|(_, at)| at), mark };
        self.flight.tokens.entry(token).or_default().open.push(copy);
    }

    pub(super) fn commit(&mut self, token: TokenId) {
        let groups = self.flight.tokens.entry(token).or_default();
        let group = std::mem::take(&mut groups.open);
        groups.closed.push(group);
    }

    /// Completes all groups but the newest `pending`.
    pub(super) fn wait(&mut self, token: TokenId, pending: u32) {
        let groups = self.flight.tokens.entry(token).or_default();
        let n_done = groups.closed.len().saturating_sub(pending as usize);
        let done: Vec<Copy> = groups.closed.drain(..n_done).flatten().collect();
        done.into_iter().for_each(|copy| self.land(copy, true));
    }

    /// The end of a block: what is in flight harms nobody any more.
    pub(super) fn land_all(&mut self) {
        for groups in std::mem::take(&mut self.flight.tokens).into_values() {
            let all = groups.closed.into_iter().flatten().chain(groups.open);
            all.for_each(|copy| self.land(copy, false));
        }
    }

    /// A copy is done: its thread has written just now.
    fn land(&mut self, copy: Copy, is_waited: bool) {
        if let Some(at) = copy.src {
            for cell in self.memories[at.memory].cells(at) {
                cell.outgoing =
                    cell.outgoing.filter(|(_, n)| *n > 1).map(|(mark, n)| (mark, n - 1));
            }
        }
        let (target, at) = copy.dst;
        for cell in self.memories[at.memory].cells(at) {
            if cell.incoming == Some(copy.mark) {
                cell.incoming = None;
            }
        }
        if is_waited && copy.mark.interval != self.interval {
            let mark = Mark { interval: self.interval, ..copy.mark };
            self.enter(target, at, mark, AccessKind::Write);
        }
    }
}
