//! What is found, and how it is said.

use std::fmt;

use super::cell::{ALL_THREADS, Collision, Mark};
use super::machine::Machine;
use crate::kernel::AccessKind;
use crate::program::print::list_program;
use crate::program::{Program, Target};
use crate::span::SourceRange;

/// What an access does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Touch {
    /// It reads.
    Read,
    /// It writes.
    Write,
    /// It updates as one step.
    Atomic,
    /// A copy in flight reads.
    CopyRead,
    /// A copy in flight writes.
    CopyWrite,
}

impl Touch {
    pub(super) fn of(kind: AccessKind, between: Between, is_first: bool) -> Self {
        match (kind, between) {
            (AccessKind::Read, Between::Copy) if is_first => Self::CopyRead,
            (AccessKind::Write, Between::Copy) if is_first => Self::CopyWrite,
            (AccessKind::Read, _) => Self::Read,
            (AccessKind::Write, _) => Self::Write,
            (AccessKind::Atomic, _) => Self::Atomic,
        }
    }
}

impl fmt::Display for Touch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Read => "reads",
            Self::Write => "writes",
            Self::Atomic => "updates",
            Self::CopyRead => "reads by a copy in flight",
            Self::CopyWrite => "writes by a copy in flight",
        })
    }
}

/// What would order two accesses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Between {
    /// They are of two threads of a block, or two items of an `Items`, with no
    /// barrier between them.
    Threads,
    /// They are of two blocks.
    Blocks,
    /// One is a copy in flight that nobody has waited for.
    Copy,
}

/// A statement that touched memory.
#[derive(Clone, Debug, PartialEq)]
pub struct AccessSite {
    /// What it did.
    pub touch: Touch,
    /// The statement as [`crate::program::print_program`] writes it.
    pub text: String,
    /// Its line there.
    pub line: usize,
    /// Where it comes from in the user's source.
    pub source: SourceRange,
    /// The block's coordinates, outermost first.
    pub block: Vec<u64>,
    /// The thread, where it is one.
    pub thread: Option<u32>,
    /// The coordinates of its item, by name.
    pub item: Vec<(String, u32)>,
    /// Barriers of the launch before it.
    pub interval: u32,
}

impl fmt::Display for AccessSite {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { touch, text, line, source, block, thread, item, interval } = self;
        match thread {
            Some(thread) => write!(f, "thread {thread}")?,
            None => write!(f, "every thread")?,
        }
        if !item.is_empty() {
            let coords: Vec<String> =
                item.iter().map(|(name, value)| format!("{name} = {value}")).collect();
            write!(f, " ({})", coords.join(", "))?;
        }
        if !block.is_empty() {
            write!(f, " of block {block:?}")?;
        }
        write!(f, " {touch} after {interval} barriers, line {line}: `{text}`")?;
        if source.line > 0 {
            write!(f, ", from line {} of the source", source.line)?;
        }
        Ok(())
    }
}

/// Something that a launch of a sound program does not do.
#[derive(Clone, Debug, PartialEq)]
pub enum Finding {
    /// Two accesses of one element, at least one a write, with nothing between
    /// them that orders them.
    Race {
        /// The array's name.
        array: String,
        /// What would order them.
        between: Between,
        /// The one that was executed first.
        first: Box<AccessSite>,
        /// The other.
        second: Box<AccessSite>,
    },
    /// A read of an element that nobody has written in this block.
    Uninitialised {
        /// The array's name.
        array: String,
        /// The read.
        site: Box<AccessSite>,
    },
    /// An unguarded index outside its array.
    Outside {
        /// The array's name.
        array: String,
        /// The axis.
        axis: usize,
        /// The index.
        index: i64,
        /// The extent.
        extent: i64,
        /// The access.
        site: Box<AccessSite>,
    },
    /// A vector access whose elements do not lie as one.
    Misaligned {
        /// The array's name.
        array: String,
        /// Elements of the vector.
        width: u8,
        /// Where the element lies, counted from the array's first.
        offset: i64,
        /// The access.
        site: Box<AccessSite>,
    },
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Race { array, between, first, second } => {
                let missing = match between {
                    Between::Threads => "no barrier between them",
                    Between::Blocks => "two blocks",
                    Between::Copy => "a copy that nobody has waited for",
                };
                write!(f, "race on `{array}`, {missing}:\n  {first}\n  {second}")
            }
            Self::Uninitialised { array, site } => {
                write!(f, "`{array}` is read where nobody has written:\n  {site}")
            }
            Self::Outside { array, axis, index, extent, site } => {
                let range = format!("0..{extent}");
                write!(f, "index {index} of axis {axis} leaves {range} of `{array}`:\n  {site}")
            }
            Self::Misaligned { array, width, offset, site } => {
                write!(
                    f,
                    "element {offset} of `{array}` is not at its place in a vector of {width}:\n  {site}"
                )
            }
        }
    }
}

/// What was found, by numbers.
#[derive(Clone, Debug)]
pub(super) enum Fact {
    Race { target: Target, collision: Collision, mark: Mark, first: Touch, second: Touch },
    Uninitialised { target: Target, mark: Mark },
    Outside { target: Target, mark: Mark, kind: AccessKind, axis: usize, index: i64, extent: i64 },
    Misaligned { target: Target, mark: Mark, kind: AccessKind, width: u8, offset: i64 },
}

impl Fact {
    /// The other statement of a pair.
    pub(super) fn other_stmt(&self) -> u32 {
        match self {
            Self::Race { collision, .. } => collision.with.stmt,
            Self::Uninitialised { mark, .. }
            | Self::Outside { mark, .. }
            | Self::Misaligned { mark, .. } => mark.stmt,
        }
    }

    /// Tells facts about the same statements apart.
    pub(super) fn number(&self) -> u8 {
        match self {
            Self::Race { collision, .. } => match collision.between {
                Between::Threads => 0,
                Between::Blocks => 1,
                Between::Copy => 2,
            },
            Self::Uninitialised { .. } => 3,
            Self::Outside { .. } => 4,
            Self::Misaligned { .. } => 5,
        }
    }
}

/// The findings of a machine that ran a kernel of a program.
pub(super) fn describe(program: &Program, kernel: usize, machine: &Machine<'_>) -> Vec<Finding> {
    if machine.facts.is_empty() {
        return Vec::new();
    }
    let listing = list_program(program);
    let lines = &listing.stmts[kernel];
    let spans = {
        let mut spans = Vec::new();
        collect_spans(&machine.kernel.body, &mut spans);
        spans
    };
    let site = |mark: &Mark, touch: Touch| {
        let at = mark.stmt as usize;
        let domain = machine.places.get(at).and_then(|place| place.domain);
        let domain = domain.map(|domain| &machine.kernel.domains[domain]);
        let item = domain.map_or_else(Vec::new, |domain| {
            let mut rest = mark.item;
            let mut coords: Vec<(String, u32)> = Vec::new();
            for axis in domain.axes.iter().rev() {
                coords.push((axis.name.clone(), rest % axis.extent.max(1)));
                rest /= axis.extent.max(1);
            }
            coords.reverse();
            coords
        });
        Box::new(AccessSite {
            touch,
            text: lines.get(at).map_or_else(String::new, |line| line.text.clone()),
            line: lines.get(at).map_or(0, |line| line.number),
            source: spans
                .get(at)
                .map_or_else(SourceRange::default, |&span| program.spans.range(span)),
            block: machine.block_coords(mark.block),
            thread: (mark.thread != ALL_THREADS).then_some(mark.thread),
            item,
            interval: mark.interval,
        })
    };
    let array = |target: Target| match target {
        Target::Buffer(id) => machine.kernel.buffers[id].name.clone(),
        Target::Tile(id) => machine.kernel.tiles[id].name.clone(),
    };
    let whole = |kind: AccessKind| Touch::of(kind, Between::Threads, false);
    let facts = machine.facts.iter().map(|fact| match *fact {
        Fact::Race { target, collision, mark, first, second } => Finding::Race {
            array: array(target),
            between: collision.between,
            first: site(&collision.with, first),
            second: site(&mark, second),
        },
        Fact::Uninitialised { target, mark } => {
            Finding::Uninitialised { array: array(target), site: site(&mark, Touch::Read) }
        }
        Fact::Outside { target, mark, kind, axis, index, extent } => Finding::Outside {
            array: array(target),
            axis,
            index,
            extent,
            site: site(&mark, whole(kind)),
        },
        Fact::Misaligned { target, mark, kind, width, offset } => Finding::Misaligned {
            array: array(target),
            width,
            offset,
            site: site(&mark, whole(kind)),
        },
    });
    facts.collect()
}

fn collect_spans(stmts: &[crate::program::Stmt], spans: &mut Vec<crate::span::SpanId>) {
    for stmt in stmts {
        spans.push(stmt.span);
        stmt.kind.bodies().into_iter().for_each(|body| collect_spans(body, spans));
    }
}
