//! The system that says: two work-items meet in one element.
//!
//! Each of the two accesses is made by its own work-item with its own copy of
//! every symbol, but for those that both are sure to share. Facts come in with
//! the symbols that are mentioned, so that a system holds only what can matter.

use std::collections::BTreeSet;

use super::super::algebra::formula::Formula;
use super::super::algebra::poly::{Poly, Unknown};
use super::super::algebra::symbol::{LoopId, Sharing};
use super::super::loops::Next;
use super::super::loops::between::MAX_BETWEEN;
use super::super::search::system::System;
use super::super::slots::made::MAX_UNMADE;
use super::super::terms::same_loads::by_content;
use super::super::terms::scattered::equal_by_bits;
use super::super::walk::{Site, Walk, Worker};
use super::flow::{Distance, Path};
use super::promised::Promised;
use super::signs::by_sign;

/// One of the two accesses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in super::super) enum Side {
    First,
    Second,
}

/// Where the two accesses are.
#[derive(Clone, Copy, Debug)]
pub(in super::super) enum Meeting<'a> {
    /// In one block and barrier interval, so far apart, where this holds on the
    /// way.
    InBlock(&'a Distance, &'a [Path; 2]),
    /// In different blocks.
    BetweenBlocks,
}

impl Meeting<'_> {
    pub(in super::super) fn is_between_blocks(&self) -> bool {
        matches!(self, Self::BetweenBlocks)
    }

    /// The loops of which both are in the same iteration; `None` between blocks.
    pub(in super::super) fn shared_loops(&self) -> Option<&[LoopId]> {
        match self {
            Self::InBlock(
                Distance::Same(loops)
                | Distance::Next(loops, _)
                | Distance::Later(loops, _)
                | Distance::Any(loops, _),
                _,
            ) => Some(loops),
            Self::BetweenBlocks => None,
        }
    }

    /// The loop of which the second access is one iteration later.
    fn next_loop(&self) -> Option<LoopId> {
        match self {
            Self::InBlock(Distance::Next(_, id), _) => Some(*id),
            Self::InBlock(Distance::Same(_) | Distance::Later(..) | Distance::Any(..), _)
            | Self::BetweenBlocks => None,
        }
    }
}

/// Of how many parts of all effort a plain proof takes one at most.
const PLAIN: u64 = 100;

/// Of how many parts of a kernel's effort a question beside the proofs takes one at most.
const ASKED: u64 = 16;

impl Walk<'_> {
    /// Whether two accesses never touch one element in different hands, at all
    /// sizes.
    pub(in super::super) fn is_disjoint(
        &self,
        first: &Site,
        second: &Site,
        meeting: Meeting<'_>,
    ) -> bool {
        self.proofs.ask(&self.sites, ([first, second], meeting), false, || {
            self.is_found_disjoint(first, second, meeting)
        })
    }

    /// The same, where a proof that is not found is looked for again.
    pub(in super::super) fn is_disjoint_so_far(
        &self,
        [first, second]: [&Site; 2],
        meeting: Meeting<'_>,
    ) -> bool {
        self.proofs.ask(&self.sites, ([first, second], meeting), true, || {
            self.is_found_disjoint(first, second, meeting)
        })
    }

    /// The same, where no proof is looked for if numbers are found at once for which the two
    /// meet, by all that is known of them.
    pub(in super::super) fn is_soon_disjoint(
        &self,
        [first, second]: [&Site; 2],
        meeting: Meeting<'_>,
    ) -> bool {
        self.proofs.ask(&self.sites, ([first, second], meeting), false, || {
            self.is_anew_disjoint([first, second], meeting)
        })
    }

    /// The same, whatever has been asked before.
    pub(in super::super) fn is_anew_disjoint(
        &self,
        [first, second]: [&Site; 2],
        meeting: Meeting<'_>,
    ) -> bool {
        !self.meets_evidently([first, second], meeting)
            && self.is_found_disjoint(first, second, meeting)
    }

    /// Numbers of which several are said to differ make many cases, and most pairs are apart
    /// whatever these are.
    fn is_found_disjoint(&self, first: &Site, second: &Site, meeting: Meeting<'_>) -> bool {
        let plain = |site: &Site| Site { differing: Vec::new(), ..site.clone() };
        if self.is_told_apart([first, second], meeting)
            || self.is_apart_by_spans([first, second], meeting)
            || self.is_disjoint_by_bits([first, second], meeting)
        {
            return true;
        }
        self.are_several_differing([first, second])
            && self.is_disjoint_as_it_stands(&plain(first), &plain(second), meeting)
            || self.is_disjoint_as_it_stands(first, second, meeting)
    }

    fn is_disjoint_as_it_stands(&self, first: &Site, second: &Site, meeting: Meeting<'_>) -> bool {
        if self.is_disjoint_by_indices([first, second], meeting)
            || self.is_disjoint_by_weights([first, second], meeting)
            || self.is_disjoint_by_numbers(first, second, meeting)
            || self.is_disjoint_by_flat_numbers(first, second, meeting)
            || self.is_disjoint_by_bounds([first, second], meeting)
        {
            return true;
        }
        let systems = self.collision(first, second, meeting, false);
        systems.iter().all(|system| system.has_none_at_all(&self.effort))
            || self.is_disjoint_by_ranks(first, second, meeting)
            || self.is_disjoint_for_all_reasons(first, second, meeting)
    }

    /// Whether that is seen with little effort.
    pub(in super::super) fn is_plainly_disjoint(
        &self,
        first: &Site,
        second: &Site,
        meeting: Meeting<'_>,
    ) -> bool {
        self.proofs.ask(&self.sites, ([first, second], meeting), true, || {
            if self.is_told_apart([first, second], meeting)
                || self.is_apart_by_spans([first, second], meeting)
            {
                return true;
            }
            let systems = self.collision(first, second, meeting, false);
            self.effort.within_part(PLAIN, || {
                systems.iter().all(|system| system.has_no_solution(&self.effort))
            })
        })
    }

    /// What would have to hold for two accesses to touch one element in different
    /// hands: one of these. `whole` asks for what their blocks and iterations need
    /// to exist, which a proof seldom does.
    pub(in super::super) fn collision(
        &self,
        first: &Site,
        second: &Site,
        meeting: Meeting<'_>,
        whole: bool,
    ) -> Vec<System> {
        let Some(mut builder) = self.colliding([first, second], meeting) else {
            return Vec::new();
        };
        if whole {
            builder.mention_rounds([first, second]);
        }
        builder.systems()
    }

    /// That two accesses are in different hands; `None` where they never are.
    pub(in super::super) fn hands<'a>(
        &'a self,
        [first, second]: [&Site; 2],
        meeting: Meeting<'a>,
    ) -> Option<Builder<'a>> {
        let mut builder = Builder::new(self, meeting);
        match builder.hands_differ(first, second) {
            Formula::False => return None,
            Formula::True => {}
            differ => builder.system.assert(&differ),
        }
        Some(builder)
    }

    /// The same, and that they touch one element.
    pub(in super::super) fn colliding<'a>(
        &'a self,
        [first, second]: [&Site; 2],
        meeting: Meeting<'a>,
    ) -> Option<Builder<'a>> {
        let both = first.indices.iter().zip(&second.indices);
        let mut equal: Vec<[Poly; 2]> =
            both.clone().map(|(left, right)| [left.clone(), right.clone()]).collect();
        equal.extend(both.flat_map(|(left, right)| {
            let bits = [left, right].map(|index| self.scattered.get(index));
            equal_by_bits(bits, &|_| false).into_iter().map(|of| [of.clone(), of])
        }));
        self.meeting_where([first, second], meeting, &equal)
    }

    /// That two accesses are in different hands, and made where these are equal; `None`
    /// where they never are in different hands.
    pub(in super::super) fn meeting_where<'a>(
        &'a self,
        [first, second]: [&Site; 2],
        meeting: Meeting<'a>,
        equal: &[[Poly; 2]],
    ) -> Option<Builder<'a>> {
        let mut builder = self.hands([first, second], meeting)?;
        builder.keep_apart([first, second]);
        equal.iter().for_each(|[left, right]| builder.assert_equal(left, right));
        // Tiles are checked, or guarded; outside a tensor nothing is touched.
        for (index, extent) in first.indices.iter().zip(self.kernel.extents(first.array)) {
            if let Some(extent) = self.extents_of_arrays.get(extent) {
                builder.assert(Side::First, &Formula::within(index, extent));
            }
        }
        for (side, site) in [(Side::First, first), (Side::Second, second)] {
            builder.made.extend(site.made.iter().map(|old| (*old, side)));
            site.guards.iter().for_each(|guard| builder.assert(side, guard));
        }
        if let Meeting::InBlock(_, [before, after]) = meeting {
            before.conditions().for_each(|passed| builder.assert(Side::First, passed));
            after.conditions().for_each(|passed| builder.assert(Side::Second, passed));
            builder.pass_rounds();
            let is_crossed = before.crosses_warp_barrier || after.crosses_warp_barrier;
            let are_items = [first, second].iter().all(|site| site.worker == Worker::Item);
            // A point of a cooperative loop is any warp's.
            if is_crossed && are_items {
                let cases = builder.in_two_warps(&[]);
                cases.iter().for_each(|cases| builder.system.assert(&Formula::Any(cases.clone())));
            }
        }
        Some(builder)
    }

    /// What holds where an access is made, and is inside.
    pub(in super::super) fn is_made(&self, site: &Site) -> Formula {
        let extents = self.kernel.extents(site.array).iter();
        let inside = site.indices.iter().zip(extents).filter_map(|(index, extent)| {
            Some(Formula::within(index, self.extents_of_arrays.get(extent)?))
        });
        Formula::All(site.guards.iter().cloned().chain(inside).collect())
    }

    /// Whether a condition never holds, at all sizes, for no work-item.
    pub(in super::super) fn is_never(&self, condition: &Formula) -> bool {
        if self.effort.is_spent_beyond() {
            return false;
        }
        let mut builder = Builder::new(self, Meeting::BetweenBlocks);
        builder.made.extend(self.made.iter().map(|old| (*old, Side::First)));
        builder.assert(Side::First, condition);
        builder.have_no_solution()
    }
}

/// How many copies a symbol has: the shared one, those of the two accesses, and those of rounds
/// in between.
const COPIES: u32 = 4 + MAX_BETWEEN;

/// A symbol's copy: the shared one, that of the first or the second access, or one of a round in
/// between.
pub(in super::super) fn copy_of(symbol: Unknown, copy: u32) -> Poly {
    match symbol.checked_mul(COPIES).and_then(|base| base.checked_add(copy)) {
        Some(unknown) => Poly::unknown(unknown),
        None => Poly::lost(),
    }
}

pub(in super::super) struct Builder<'a> {
    pub(in super::super) walk: &'a Walk<'a>,
    pub(in super::super) meeting: Meeting<'a>,
    pub(in super::super) system: System,
    /// Symbols whose facts are in, or will be.
    pub(in super::super) seen: BTreeSet<(Unknown, Side)>,
    open: Vec<(Unknown, Side)>,
    asserted: Vec<Formula>,
    /// The old values of updates that a side has made, where some pass them by.
    pub(in super::super) made: BTreeSet<(Unknown, Side)>,
    /// What is 0 where the two accesses are of one element, and what follows from that.
    pub(in super::super) zeros: Vec<Poly>,
    /// Old values of which it has been said that they differ.
    pub(in super::super) parted: BTreeSet<(Unknown, Unknown)>,
    /// Old values of which it has been said that one is what updates leave.
    pub(in super::super) claimed: BTreeSet<(Unknown, Unknown)>,
    /// Old values of which it has been said that one has the bits that the other sets.
    pub(in super::super) marked: BTreeSet<(Unknown, Unknown)>,
    /// Loaded values of which something is promised.
    pub(in super::super) promised: Promised,
    /// Whether it is asked what one side has read at one place.
    compares_reads: bool,
}

impl<'a> Builder<'a> {
    pub(in super::super) fn new(walk: &'a Walk<'_>, meeting: Meeting<'a>) -> Self {
        Self {
            walk,
            meeting,
            system: System::default(),
            seen: BTreeSet::new(),
            open: Vec::new(),
            asserted: Vec::new(),
            made: BTreeSet::new(),
            zeros: Vec::new(),
            parted: BTreeSet::new(),
            claimed: BTreeSet::new(),
            marked: BTreeSet::new(),
            promised: Promised::default(),
            compares_reads: false,
        }
    }

    /// That an access is made, on the first side.
    pub(in super::super) fn alone(walk: &'a Walk<'_>, site: &Site) -> Self {
        let mut builder = Self::new(walk, Meeting::BetweenBlocks);
        builder.made.extend(site.made.iter().map(|old| (*old, Side::First)));
        builder.assert(Side::First, &walk.is_made(site));
        builder
    }

    /// The same, where it is asked too what one side has read at one place.
    pub(in super::super) fn comparing_reads(self) -> Self {
        Self { compares_reads: true, ..self }
    }

    /// Whether both sides see one value of a symbol.
    pub(in super::super) fn is_shared(&self, symbol: Unknown) -> bool {
        let Some(symbol_data) = self.walk.symbols.get(symbol) else { return false };
        let within = |loops: &[LoopId]| {
            let shared = self.meeting.shared_loops();
            shared.is_some_and(|shared| loops.iter().all(|id| shared.contains(id)))
        };
        match &symbol_data.sharing {
            Sharing::Launch => true,
            Sharing::Block => within(&symbol_data.loops),
            Sharing::Iteration(id) => within(&[*id]),
            Sharing::Private => false,
            Sharing::Function(of) => of.iter().all(|other| self.is_shared(*other)),
        }
    }

    /// A symbol as an unknown of the system.
    pub(in super::super) fn unknown(&self, symbol: Unknown, side: Side) -> Poly {
        let copy = match (self.is_shared(symbol), side) {
            (true, _) => 0,
            (false, Side::First) => 1,
            (false, Side::Second) => 2,
        };
        if side == Side::Second
            && let Some(next) = self.meeting.next_loop()
            && self.walk.all_loops[next.0].number == symbol
        {
            return self.unknown(symbol, Side::First).plus(1);
        }
        copy_of(symbol, copy)
    }

    /// Whether an unknown of the system is the copy of a symbol that is not negative.
    pub(in super::super) fn is_natural_copy(&self, unknown: Unknown) -> bool {
        let symbol = Poly::unknown(unknown / COPIES);
        self.walk.symbols.low(&symbol).is_some_and(|low| low >= 0)
    }

    /// A polynomial over symbols as one side sees it.
    pub(in super::super) fn on(&mut self, side: Side, poly: &Poly) -> Poly {
        self.mention(side, poly.unknowns());
        poly.replace(&|symbol| Some(self.unknown(symbol, side)))
    }

    /// Asserts that one value of the first side is another one of the second.
    pub(in super::super) fn assert_equal(&mut self, first: &Poly, second: &Poly) {
        let [first, second] =
            [(Side::First, first), (Side::Second, second)].map(|(side, of)| self.on(side, of));
        self.zeros.push(by_content(&first.sub(&second)));
        self.system.assert_collision(&first, &second);
    }

    pub(in super::super) fn mention(&mut self, side: Side, symbols: impl Iterator<Item = Unknown>) {
        let next = self.meeting.next_loop().map(|id| self.walk.all_loops[id.0].number);
        for symbol in symbols {
            if self.seen.insert((symbol, side)) {
                self.open.push((symbol, side));
            }
            // The later iteration's number is one more than the earlier one's.
            if side == Side::Second && next == Some(symbol) {
                self.mention(Side::First, std::iter::once(symbol));
            }
        }
    }

    /// The blocks and the iterations in which two accesses are made exist.
    pub(in super::super) fn mention_rounds(&mut self, sites: [&Site; 2]) {
        for (side, site) in [Side::First, Side::Second].into_iter().zip(sites) {
            self.mention_rounds_of(side, site.loops.iter());
            self.mention_grid(side);
        }
    }

    /// There are iterations of loops in which one side is.
    pub(in super::super) fn mention_rounds_of<'l>(
        &mut self,
        side: Side,
        loops: impl Iterator<Item = &'l LoopId>,
    ) {
        let walk = self.walk;
        self.mention(side, loops.map(|id| walk.all_loops[id.0].number));
    }

    /// There is a block: a counter of as many elements as there are has one.
    pub(in super::super) fn mention_grid(&mut self, side: Side) {
        let walk = self.walk;
        self.mention(side, walk.grid.iter().map(|(_, axis)| *axis));
    }

    /// Asserts a formula over symbols as one side sees it.
    pub(in super::super) fn assert(&mut self, side: Side, formula: &Formula) {
        if !self.walk.bits.is_empty() {
            self.bound_bits(side, formula);
        }
        let formula = self.formula_on(side, formula);
        if !self.asserted.contains(&formula) {
            self.system.assert(&formula);
            self.asserted.push(formula);
        }
    }

    /// Asserts how large sums of bits are that a formula compares with numbers.
    fn bound_bits(&mut self, side: Side, formula: &Formula) {
        match formula {
            Formula::True | Formula::False | Formula::Unknown => {}
            Formula::AtLeast(poly) | Formula::Zero(poly) => {
                let rest = poly.plus(-poly.constant_term());
                for sum in [rest.negated(), rest] {
                    if let Some(bits) = self.walk.sum_of_bits(&sum) {
                        let range = Formula::within(&sum, &Poly::constant(bits + 1));
                        let range = self.formula_on(side, &range);
                        self.system.assert(&range);
                    }
                }
            }
            Formula::All(parts) | Formula::Any(parts) => {
                parts.iter().for_each(|part| self.bound_bits(side, part));
            }
        }
    }

    /// A formula over symbols as one side sees it.
    pub(in super::super) fn formula_on(&mut self, side: Side, formula: &Formula) -> Formula {
        let mut symbols = Vec::new();
        formula.collect_unknowns(&mut symbols);
        self.mention(side, symbols.into_iter());
        formula.replace(&|symbol| Some(self.unknown(symbol, side)))
    }

    /// That the two accesses are not made one after the other by one worker.
    fn hands_differ(&mut self, first: &Site, second: &Site) -> Formula {
        let walk = self.walk;
        if matches!(self.meeting, Meeting::BetweenBlocks) {
            return self.any_differs(walk.grid.iter().map(|(_, axis)| *axis));
        }
        match (&first.worker, &second.worker) {
            (Worker::Item, Worker::Item) => {
                self.any_differs(walk.block.iter().flatten().map(|(_, axis)| *axis))
            }
            (Worker::Body, Worker::Body) => Formula::False,
            (Worker::Point { each, axes, depth }, Worker::Point { each: other, .. })
                if each == other =>
            {
                // Points of one run of the loop, or of two runs of it.
                let runs = first.loops.iter().take(*depth);
                let runs = runs.map(|id| walk.all_loops[id.0].number);
                self.any_differs(runs.chain(axes.iter().copied()))
            }
            (Worker::Item | Worker::Body | Worker::Thread | Worker::Point { .. }, _) => {
                Formula::True
            }
        }
    }

    /// That the two sides differ in one of these symbols.
    fn any_differs(&mut self, symbols: impl Iterator<Item = Unknown>) -> Formula {
        let mut out = Vec::new();
        for symbol in symbols {
            let of = Poly::unknown(symbol);
            let (left, right) = (self.on(Side::First, &of), self.on(Side::Second, &of));
            out.push(Formula::ne(&left, &right));
        }
        Formula::Any(out).replace(&|_| None)
    }

    /// What was asserted, with the facts of everything it mentions: one of these
    /// systems.
    pub(in super::super) fn systems(mut self) -> Vec<System> {
        let walk = self.walk;
        for constraint in &walk.constraints {
            self.assert(Side::First, constraint);
        }
        self.assert_facts();
        self.relate_exclusive_ors();
        self.relate_tables();
        self.order_shares();
        self.compare_squares();
        self.part_running();
        self.part_levels();
        self.join_warps();
        self.part_scans();
        self.part_dealt();
        self.part_prefixes();
        self.part_tallies();
        self.part_counts();
        self.assert_facts();
        self.join_loads();
        if self.compares_reads {
            self.join_own_reads();
            self.assert_facts();
        }
        let size = self.divided_size();
        let mut systems = vec![self.system];
        if let Some(size) = size {
            by_sign(&size, &mut systems);
        }
        for (apart, same) in self.promised.apart {
            let mut one = systems.clone();
            one.iter_mut().for_each(|system| system.assert(&apart));
            for system in &mut systems {
                same.iter().for_each(|(left, right)| system.assert_collision(left, right));
            }
            systems.extend(one);
        }
        systems
    }

    /// Whether what was asserted never holds, as far as a question beside the proofs finds out.
    pub(in super::super) fn have_no_solution(self) -> bool {
        self.have_none_within(ASKED)
    }

    /// The same, as far as a question finds out that takes one of so many parts of a kernel's
    /// effort.
    pub(in super::super) fn have_none_within(self, part: u64) -> bool {
        let effort = &self.walk.effort;
        if effort.is_spent_beyond() {
            return false;
        }
        let systems = self.systems();
        effort.within_part(part, || systems.iter().all(|system| system.has_no_solution(effort)))
    }

    /// Asserts what is known of the symbols that are mentioned, and of those that
    /// come in with that.
    pub(in super::super) fn assert_facts(&mut self) {
        let walk = self.walk;
        while let Some((symbol, side)) = self.open.pop() {
            let Some(known) = walk.symbols.get(symbol) else { continue };
            if !self.stands_for_element(symbol, side) {
                self.assert(side, &known.facts);
            }
            if side == Side::Second {
                self.continue_from(symbol);
                self.stand(symbol);
            }
            self.part_slots(symbol, side);
            self.part_claims(symbol, side);
            self.part_marks(symbol, side);
            self.keep_promises(symbol, side);
        }
    }

    /// That an old value of a counter on one side is none of the other side's.
    fn part_slots(&mut self, symbol: Unknown, side: Side) {
        let walk = self.walk;
        let Some(slot) = walk.slots.get(&symbol) else { return };
        self.mention_grid(side);
        self.bound_if_made(slot, side);
        let seen: Vec<Unknown> =
            self.seen.iter().filter(|(_, of)| *of != side).map(|(other, _)| *other).collect();
        for other in seen {
            let Some(other_slot) = walk.slots.get(&other) else { continue };
            let ((first, one), (second, two)) = match side {
                Side::First => ((symbol, slot), (other, other_slot)),
                Side::Second => ((other, other_slot), (symbol, slot)),
            };
            if !self.parted.insert((first, second)) {
                continue;
            }
            let either = [(one, Side::First), (two, Side::Second)];
            if either.iter().map(|(slot, side)| self.n_unmade(slot, *side)).sum::<usize>()
                > MAX_UNMADE
            {
                continue;
            }
            self.bound_both([(first, one, Side::First), (second, two, Side::Second)]);
            let first = self.on(Side::First, &Poly::unknown(first));
            let second = self.on(Side::Second, &Poly::unknown(second));
            let meeting = self.meeting;
            let apart =
                walk.apart((&first, one), (&second, two), meeting, &mut |is_first, poly| {
                    self.on(if is_first { Side::First } else { Side::Second }, poly)
                });
            let Some(apart) = apart else { continue };
            let unmade = either.map(|(slot, side)| self.unmade(slot, side));
            let apart = unmade.into_iter().flatten().fold(apart, Formula::or);
            self.system.assert(&apart.replace(&|_| None));
        }
    }

    /// Where the second access is one iteration later: the symbol there as the
    /// first one's iteration leaves it.
    fn continue_from(&mut self, symbol: Unknown) {
        let Some(next) = self.meeting.next_loop() else { return };
        let walk = self.walk;
        for (changed, value) in &walk.all_loops[next.0].next {
            if *changed != symbol {
                continue;
            }
            let later = self.on(Side::Second, &Poly::unknown(symbol));
            match value {
                Next::Is(value) => {
                    let value = self.on(Side::First, value);
                    self.system.assert(&Formula::eq(&later, &value));
                }
                Next::Half => {
                    let now = self.on(Side::First, &Poly::unknown(symbol));
                    let rest = now.sub(&later.scaled(2));
                    self.system.assert(&Formula::within(&rest, &Poly::constant(2)));
                }
            }
        }
    }
}
