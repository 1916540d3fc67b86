//! The integers of a warp: one value, one for each lane, or none that is known.
//!
//! A macro that nobody has optimised goes through the lanes, so loops over them are plain
//! ones: iterators take several times as long there.

use crate::exchange::WARP_ITEMS;

/// Lanes of a warp.
pub(super) const LANES: usize = WARP_ITEMS as usize;

/// One bit for each lane, lane 0 lowest.
pub(super) type Mask = u32;

/// An integer, an index or a condition (0 or 1) in the lanes of a warp.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) enum Value {
    /// It depends on data.
    #[default]
    Unknown,
    /// The same in all lanes.
    Same(i64),
    /// One for each lane; of lanes that do not run, anything.
    Each(Box<[i64; LANES]>),
}

impl Value {
    pub(super) fn each(f: impl Fn(usize) -> i64) -> Self {
        collect(|lane| Some(f(lane)))
    }

    pub(super) fn flag(value: bool) -> Self {
        Self::Same(i64::from(value))
    }

    pub(super) fn is_known(&self) -> bool {
        !matches!(self, Self::Unknown)
    }

    /// The value of a lane, where it is known.
    pub(super) fn lane(&self, lane: usize) -> Option<i64> {
        match self {
            Self::Unknown => None,
            Self::Same(value) => Some(*value),
            Self::Each(values) => Some(values[lane]),
        }
    }

    /// The one value of all lanes.
    pub(super) fn uniform(&self) -> Option<i64> {
        match self {
            Self::Same(value) => Some(*value),
            Self::Unknown | Self::Each(_) => None,
        }
    }

    /// The lanes of `active` where it is not 0; `None` where that is unknown.
    pub(super) fn mask(&self, active: Mask) -> Option<Mask> {
        match self {
            Self::Unknown => None,
            Self::Same(0) => Some(0),
            Self::Same(_) => Some(active),
            Self::Each(values) => {
                let (mut mask, mut lane) = (0, 0);
                while lane < LANES {
                    mask |= Mask::from(values[lane] != 0) << lane;
                    lane += 1;
                }
                Some(mask & active)
            }
        }
    }

    pub(super) fn map(&self, f: impl Fn(i64) -> Option<i64>) -> Self {
        match self {
            Self::Unknown => Self::Unknown,
            Self::Same(value) => f(*value).map_or(Self::Unknown, Self::Same),
            Self::Each(values) => collect(|lane| f(values[lane])),
        }
    }

    pub(super) fn zip(&self, other: &Self, f: impl Fn(i64, i64) -> Option<i64>) -> Self {
        match (self, other) {
            (Self::Unknown, _) | (_, Self::Unknown) => Self::Unknown,
            (Self::Same(a), Self::Same(b)) => f(*a, *b).map_or(Self::Unknown, Self::Same),
            (Self::Each(a), Self::Same(b)) => collect(|lane| f(a[lane], *b)),
            (Self::Same(a), Self::Each(b)) => collect(|lane| f(*a, b[lane])),
            (Self::Each(a), Self::Each(b)) => collect(|lane| f(a[lane], b[lane])),
        }
    }

    /// This in the lanes of `mask`, `other` in the others.
    pub(super) fn merged(self, mask: Mask, other: &Self) -> Self {
        if mask == Mask::MAX {
            return self;
        }
        match (self.is_known(), other.is_known()) {
            (true, true) => {
                collect(
                    |lane| {
                        if mask >> lane & 1 == 1 { self.lane(lane) } else { other.lane(lane) }
                    },
                )
            }
            (false, _) | (_, false) => Self::Unknown,
        }
    }
}

/// The lanes' values; one where all have it, none where any has none.
fn collect(f: impl Fn(usize) -> Option<i64>) -> Value {
    let mut values = [0; LANES];
    let (mut is_same, mut lane) = (true, 0);
    while lane < LANES {
        let Some(value) = f(lane) else { return Value::Unknown };
        values[lane] = value;
        is_same &= value == values[0];
        lane += 1;
    }
    if is_same { Value::Same(values[0]) } else { Value::Each(Box::new(values)) }
}
