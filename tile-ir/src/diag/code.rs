//! The codes of the rules. A code is never reused.

use std::fmt;

/// A rule's code. Families: 00 syntax and names, 01 shapes and types, 02 bounds
/// and pads, 03 races, 04 barriers and uniformity, 05 memory, 06 launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Code {
    /// TK0001: the text is not in the language.
    Syntax,
    /// TK0002: a name that is not declared.
    UnknownName,
    /// TK0003: a name declared twice where only one may stand.
    DuplicateName,
    /// TK0004: a name used as what it is not, or where it may not be used.
    MisusedName,
    /// TK0101: another number of indices than the array has axes.
    RankMismatch,
    /// TK0102: operands or a value of another type than needed.
    TypeMismatch,
    /// TK0103: an operation that the type (or the bound) does not have.
    UnsupportedOperation,
    /// TK0104: a dimension that no parameter binds, or a header that cannot be used.
    BadHeader,
    /// TK0105: an assignment to what cannot be assigned.
    NotAssignable,
    /// TK0106: a literal that its type cannot hold.
    LiteralRange,
    /// TK0107: a kernel that writes nothing.
    NoOutput,
    /// TK0201: an index that can leave a tile's extents.
    TileBounds,
    /// TK0202: a pad value that changes a stored result.
    PadChangesResult,
    /// TK0301: a race on a shared tile.
    SharedRace,
    /// TK0302: a race on a tensor within a block.
    GlobalRace,
    /// TK0303: overlapping writes (or a write and a read) of different blocks.
    BlockRace,
    /// TK0304: an access pair that cannot be decided.
    UndecidedRace,
    /// TK0305: an assumption that never holds, or that needs none.
    BadAssumption,
    /// TK0401: a barrier or a collective in divergent control flow.
    Divergence,
    /// TK0402: a barrier that orders nothing (a warning).
    RedundantBarrier,
    /// TK0403: `uniform(…)` of what differs between work-items.
    NotUniform,
    /// TK0404: a loop that only another work-item's write can end.
    EndlessWait,
    /// TK0501: a tile or a variable read before it is written.
    Uninitialised,
    /// TK0502: a tile or variable that is never read (a warning).
    Unused,
    /// TK0503: a finding about a launch's cost that `#[deny(…)]` on the kernel makes an
    /// error.
    Denied,
}

impl Code {
    /// The code as printed, `TK0301`.
    pub const fn text(self) -> &'static str {
        match self {
            Self::Syntax => "TK0001",
            Self::UnknownName => "TK0002",
            Self::DuplicateName => "TK0003",
            Self::MisusedName => "TK0004",
            Self::RankMismatch => "TK0101",
            Self::TypeMismatch => "TK0102",
            Self::UnsupportedOperation => "TK0103",
            Self::BadHeader => "TK0104",
            Self::NotAssignable => "TK0105",
            Self::LiteralRange => "TK0106",
            Self::NoOutput => "TK0107",
            Self::TileBounds => "TK0201",
            Self::PadChangesResult => "TK0202",
            Self::SharedRace => "TK0301",
            Self::GlobalRace => "TK0302",
            Self::BlockRace => "TK0303",
            Self::UndecidedRace => "TK0304",
            Self::BadAssumption => "TK0305",
            Self::Divergence => "TK0401",
            Self::RedundantBarrier => "TK0402",
            Self::NotUniform => "TK0403",
            Self::EndlessWait => "TK0404",
            Self::Uninitialised => "TK0501",
            Self::Unused => "TK0502",
            Self::Denied => "TK0503",
        }
    }
}

impl Code {
    /// The name by which `#[allow(…)]` on a kernel silences a warning, besides its
    /// code.
    pub const fn lint(self) -> Option<&'static str> {
        match self {
            Self::RedundantBarrier => Some("redundant_barrier"),
            Self::Syntax
            | Self::UnknownName
            | Self::DuplicateName
            | Self::MisusedName
            | Self::RankMismatch
            | Self::TypeMismatch
            | Self::UnsupportedOperation
            | Self::BadHeader
            | Self::NotAssignable
            | Self::LiteralRange
            | Self::NoOutput
            | Self::TileBounds
            | Self::PadChangesResult
            | Self::SharedRace
            | Self::GlobalRace
            | Self::BlockRace
            | Self::UndecidedRace
            | Self::BadAssumption
            | Self::Divergence
            | Self::NotUniform
            | Self::EndlessWait
            | Self::Uninitialised
            | Self::Unused
            | Self::Denied => None,
        }
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text())
    }
}
