//! What a checked launch looks at: the mode, and the places of the text where there is
//! something to look at.

use std::borrow::Cow;

use tile_ir::dtype::DType;
use tile_ir::exchange::Group;
use tile_ir::program::DomainId;
use tile_ir::span::SpanId;

use super::order::Order;

/// How a kernel is to be run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Mode {
    /// The order of blocks and work-items.
    pub(crate) order: Order,
    /// What is looked at meanwhile; nothing in fast mode.
    pub(crate) watch: Option<Watch>,
}

impl From<Order> for Mode {
    fn from(order: Order) -> Self {
        Self { order, watch: None }
    }
}

/// What a checked launch looks at beside races, bounds and what nobody has written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Watch {
    /// Operations that make a NaN or an infinity of finite operands.
    pub(crate) nan_origin: bool,
    /// What warps do.
    pub(crate) counts: bool,
    /// Variables that are read before they are assigned: of kernels that no check has
    /// passed.
    pub(crate) unset: bool,
}

/// What is done to an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Doing {
    /// It is read.
    Read,
    /// It is written.
    Write,
    /// It is updated as one step.
    Update,
}

impl Doing {
    /// Whether two of them on one element need an order.
    pub(super) fn conflicts(self, other: Self) -> bool {
        match (self, other) {
            (Self::Read, Self::Read) | (Self::Update, Self::Update) => false,
            (Self::Write, _) | (_, Self::Write) => true,
            (Self::Read, Self::Update) | (Self::Update, Self::Read) => true,
        }
    }
}

/// A place of the text where elements are touched.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Site {
    /// What is done to them.
    pub(crate) doing: Doing,
    /// Where it stands in the source.
    pub(crate) span: SpanId,
    /// The array: buffers come first, then tiles.
    pub(crate) array: usize,
}

/// What is noticed of an operation: it is defined, and seldom meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Oddity {
    /// An integer that wraps.
    Overflow,
    /// An integer divided by 0.
    DivisionByZero,
    /// A NaN or an infinity of finite operands.
    NotFinite,
    /// A variable that has no value yet.
    Unset,
}

/// An operation of the text at which an [`Oddity`] is looked for.
#[derive(Clone, Debug)]
pub(crate) struct Operation {
    /// What is looked for.
    pub(crate) oddity: Oddity,
    /// Its sign or name, or that of the variable.
    pub(crate) symbol: Cow<'static, str>,
    /// The type of its result.
    pub(crate) dtype: DType,
    /// Where it stands in the source.
    pub(crate) span: SpanId,
}

/// Who is missing at a place that work-items come to together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lacking {
    /// Those who do not come, if any.
    Absent,
    /// All others: points of a cooperative loop never meet.
    Points,
    /// Somebody else with other data: the condition need not be the same for all.
    Agreement,
}

/// A place of the text that work-items come to together.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Meeting {
    /// Which of them.
    pub(crate) group: Group,
    /// Whether what comes before it is ordered before what comes after.
    pub(crate) is_barrier: bool,
    /// Who is missing.
    pub(crate) lacks: Lacking,
    /// Where it stands in the source.
    pub(crate) span: SpanId,
}

/// Whose items the agents of a range are.
///
/// An *agent* is who runs a statement, by number: 0 for the block as a whole, then the
/// kernel's work-items, then the points of each cooperative loop.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Agents {
    /// The first one's number.
    pub(crate) base: u32,
    /// Whose items.
    pub(crate) domain: DomainId,
}
