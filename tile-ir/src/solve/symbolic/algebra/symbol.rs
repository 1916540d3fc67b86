//! The unknowns of a kernel, what is known of each, and who shares it.
//!
//! Two accesses are compared as the work of two arbitrary work-items. Each gets
//! its own copy of every symbol, unless both are sure to see one value
//! ([`Sharing`]); which loops they are in the same iteration of is the pair's
//! to say.

use super::formula::Formula;
use super::poly::{Poly, Unknown};
use crate::exchange::ExchangeOp;
use crate::kernel::VarId;
use crate::op::BinaryOp;
use crate::span::SpanId;

/// A loop of the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in super::super) struct LoopId(pub(in super::super) usize);

/// Who sees one value of a symbol.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in super::super) enum Sharing {
    /// All work-items of a launch.
    Launch,
    /// All work-items of a block, in the same iteration of [`Symbol::loops`].
    Block,
    /// The number of the iteration, from 0, of this loop: who is in the same.
    Iteration(LoopId),
    /// Nobody else.
    Private,
    /// Who shares all of these: it is a function of them, and its facts say
    /// which.
    Function(Vec<Unknown>),
}

/// What keeps an expression from being exact.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Obstacle {
    /// A value loaded from memory.
    Load,
    /// It may leave the range of its type.
    Wraps,
    /// The value that an atomic update found, in this variable.
    Old(VarId),
    /// A variable that a loop or a branch changes in a way that has no closed form.
    Changed(VarId),
    /// An operator on integers; `/` and `%` by what is not known to be positive too.
    Operator(BinaryOp),
    /// A value made of those of several work-items.
    Exchange(ExchangeOp),
    /// A conversion.
    Conversion,
    /// Any other expression.
    Other,
}

/// An unknown of a kernel.
#[derive(Clone, Debug)]
pub(in super::super) struct Symbol {
    pub(in super::super) sharing: Sharing,
    /// The loops around the place where it gets its value, outermost first.
    pub(in super::super) loops: Vec<LoopId>,
    /// It is at least this.
    pub(in super::super) low: Option<i128>,
    /// What holds of it.
    pub(in super::super) facts: Formula,
    /// The expression that it stands for, where that is not exact or not linear.
    pub(in super::super) obstacle: Option<(SpanId, Obstacle)>,
}

/// All symbols of a kernel.
#[derive(Debug, Default)]
pub(in super::super) struct Symbols {
    all: Vec<Symbol>,
    /// Of each, how many functions lie inside each other in it.
    depths: Vec<u32>,
}

impl Symbols {
    pub(in super::super) fn push(&mut self, symbol: Symbol) -> Unknown {
        let depth = match &symbol.sharing {
            Sharing::Function(of) => 1 + of.iter().map(|of| self.depth(*of)).max().unwrap_or(0),
            Sharing::Launch | Sharing::Block | Sharing::Iteration(_) | Sharing::Private => 0,
        };
        self.all.push(symbol);
        self.depths.push(depth);
        self.next() - 1
    }

    /// The number of the next symbol.
    pub(in super::super) fn next(&self) -> Unknown {
        // Symbols are bounded by the kernel's text, times its nesting.
        Unknown::try_from(self.all.len()).unwrap_or(Unknown::MAX)
    }

    /// How many functions lie inside each other in a symbol.
    pub(in super::super) fn depth(&self, unknown: Unknown) -> u32 {
        self.depths.get(unknown as usize).copied().unwrap_or(0)
    }

    pub(in super::super) fn get(&self, unknown: Unknown) -> Option<&Symbol> {
        self.all.get(unknown as usize)
    }

    /// The symbols that stand for an expression.
    pub(in super::super) fn of(
        &self,
        obstacle: (SpanId, Obstacle),
    ) -> impl Iterator<Item = Unknown> {
        let is_it = move |symbol: &Symbol| symbol.obstacle == Some(obstacle);
        (0..self.next()).zip(&self.all).filter(move |(_, symbol)| is_it(symbol)).map(|(at, _)| at)
    }

    /// A symbol turns out to be one number for the whole launch.
    pub(in super::super) fn set_launch(&mut self, unknown: Unknown) {
        if let Some(symbol) = self.all.get_mut(unknown as usize) {
            symbol.sharing = Sharing::Launch;
            symbol.loops.clear();
            symbol.obstacle = None;
        }
    }

    /// A symbol turns out to be one number for a block, in an iteration of its loops.
    pub(in super::super) fn set_block(&mut self, unknown: Unknown) {
        if let Some(symbol) = self.all.get_mut(unknown as usize)
            && symbol.sharing == Sharing::Private
        {
            symbol.sharing = Sharing::Block;
        }
    }

    /// A symbol turns out to be another number for each work-item.
    pub(in super::super) fn set_private(&mut self, unknown: Unknown) {
        if let Some(symbol) = self.all.get_mut(unknown as usize)
            && symbol.sharing == Sharing::Block
        {
            symbol.sharing = Sharing::Private;
        }
    }

    /// What is known of a symbol, but for its least value, need not hold where `unless` does.
    pub(in super::super) fn weaken(&mut self, unknown: Unknown, unless: &Formula) {
        let Some(symbol) = self.all.get_mut(unknown as usize) else { return };
        let facts = std::mem::replace(&mut symbol.facts, Formula::True);
        let low = symbol.low;
        self.add_facts(unknown, unless.clone().or(facts));
        low.iter().for_each(|low| self.set_least(unknown, *low));
    }

    /// A symbol turns out never to be negative.
    pub(in super::super) fn set_natural(&mut self, unknown: Unknown) {
        self.set_least(unknown, 0);
    }

    /// A symbol turns out to be at least 1.
    pub(in super::super) fn set_positive(&mut self, unknown: Unknown) {
        self.set_least(unknown, 1);
    }

    /// A symbol turns out to be at least this.
    pub(in super::super) fn set_least(&mut self, unknown: Unknown, least: i128) {
        self.add_facts(unknown, Formula::AtLeast(Poly::unknown(unknown).plus(-least)));
        if let Some(symbol) = self.all.get_mut(unknown as usize) {
            symbol.low = Some(symbol.low.map_or(least, |low| low.max(least)));
        }
    }

    /// Something holds of each launch: symbols that it says not to be below a number are not.
    pub(in super::super) fn set_least_by(&mut self, holds: &Formula) {
        match holds {
            Formula::All(parts) => parts.iter().for_each(|part| self.set_least_by(part)),
            Formula::AtLeast(poly) if !poly.is_lost() => {
                let unknown = poly.plus(-poly.constant_term());
                if let [(product, 1)] = unknown.terms()
                    && let [unknown] = product.as_slice()
                {
                    self.set_least(*unknown, -poly.constant_term());
                }
            }
            Formula::True
            | Formula::False
            | Formula::Unknown
            | Formula::AtLeast(_)
            | Formula::Zero(_)
            | Formula::Any(_) => {}
        }
    }

    /// Adds what holds of a symbol.
    pub(in super::super) fn add_facts(&mut self, unknown: Unknown, facts: Formula) {
        if let Some(symbol) = self.all.get_mut(unknown as usize)
            && !symbol.facts.states(&facts)
        {
            symbol.facts = std::mem::replace(&mut symbol.facts, Formula::True).and(facts);
        }
    }

    /// What a polynomial is at least, as far as its factors' signs show it.
    pub(in super::super) fn low(&self, poly: &Poly) -> Option<i128> {
        if poly.is_lost() {
            return None;
        }
        poly.terms().iter().try_fold(0_i128, |sum, (product, factor)| {
            let low = product.iter().try_fold(*factor, |low, unknown| {
                let least = self.get(*unknown)?.low?;
                if *factor < 0 || least < 0 { None } else { low.checked_mul(least) }
            });
            sum.checked_add(low?)
        })
    }

    /// Whether a symbol can differ between iterations of `around`.
    pub(in super::super) fn is_inside(&self, unknown: Unknown, around: LoopId) -> bool {
        self.get(unknown).is_none_or(|symbol| match &symbol.sharing {
            Sharing::Function(of) => of.iter().any(|other| self.is_inside(*other, around)),
            Sharing::Launch => false,
            Sharing::Block | Sharing::Iteration(_) | Sharing::Private => {
                symbol.loops.contains(&around)
            }
        })
    }
}
