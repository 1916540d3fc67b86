//! How a walk over a kernel begins: nothing is known yet, and what is to be noted is said.

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use super::super::algebra::symbol::Symbols;
use super::super::exchange::ballots::Ballots;
use super::super::loops::exit::Exits;
use super::super::loops::stay::leaving;
use super::super::pairs::beside::Beside;
use super::super::pairs::flow::{Flow, Pairs};
use super::super::pairs::known::Known;
use super::super::pairs::weighed::Weighed;
use super::super::scans::prefix::Prefixes;
use super::super::scans::windows::Windows;
use super::super::search::linear::Effort;
use super::super::slots::claim::Claims;
use super::super::slots::counters::Counters;
use super::super::slots::in_parts::InParts;
use super::super::slots::marks::Marks;
use super::super::slots::tallied::Tallies;
use super::super::terms::agreed_load::AgreedLoads;
use super::super::terms::kept_below::{Keepers, KeptBelow};
use super::super::terms::late::Lates;
use super::super::terms::named::Named;
use super::super::terms::wholes::Wholes;
use super::super::tiles::arrays::Elements;
use super::super::tiles::cells::Cells;
use super::super::tiles::floors::Floors;
use super::super::tiles::held::Holdings;
use super::super::tiles::own_arrays::OwnArrays;
use super::super::tiles::own_cells::OwnCells;
use super::super::tiles::reread::Reread;
use super::super::tiles::spot::counting;
use super::asked::Asked;
use super::{Case, Walk};
use crate::check::{Exact, Uniformity, preconditions};
use crate::kernel::Kernel;

/// What a walk notes besides accesses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Noted {
    /// Where reads of tensors are outside ([`Walk::outside`]).
    Outside,
    /// Who does not make accesses ([`Walk::opposites`]).
    Opposites,
}

/// Walks a kernel.
pub(in super::super) fn walk<'a>(kernel: &'a Kernel, uniformity: &'a Uniformity) -> Walk<'a> {
    walk_with(kernel, uniformity, None, Case::default())
}

/// Walks a kernel that differs in barriers alone from one whose numbers that a launch bounds
/// are known.
pub(in super::super) fn walk_again<'a>(
    kernel: &'a Kernel,
    uniformity: &'a Uniformity,
    exact: Rc<Exact>,
) -> Walk<'a> {
    walk_bounded((kernel, exact), uniformity, None, Case::default())
}

/// Walks a case of a kernel.
pub(in super::super) fn walk_case<'a>(
    kernel: &'a Kernel,
    uniformity: &'a Uniformity,
    case: Case,
) -> Walk<'a> {
    walk_with(kernel, uniformity, None, case)
}

/// Walks a case of a kernel with numbers put in, of which a launch bounds what it bounds of the
/// kernel without them.
pub(in super::super) fn walk_put_in<'a>(
    (kernel, exact): (&'a Kernel, Rc<Exact>),
    uniformity: &'a Uniformity,
    case: Case,
) -> Walk<'a> {
    walk_bounded((kernel, exact), uniformity, None, case)
}

/// Walks a kernel, and notes where its reads of tensors are outside.
pub(in super::super) fn walk_reads<'a>(kernel: &'a Kernel, uniformity: &'a Uniformity) -> Walk<'a> {
    walk_with(kernel, uniformity, Some(Noted::Outside), Case::default())
}

/// Walks a kernel, and notes of each access who does not make it; rounds of short loops that
/// update tiles one by one where `walks_updates`.
pub(in super::super) fn walk_stores<'a>(
    kernel: &'a Kernel,
    uniformity: &'a Uniformity,
    walks_updates: bool,
) -> Walk<'a> {
    let case = Case { walks_updates, ..Case::default() };
    walk_with(kernel, uniformity, Some(Noted::Opposites), case)
}

/// The same, where it is asked too between which values loops keep what they set by data.
pub(in super::super) fn walk_limited_stores<'a>(
    kernel: &'a Kernel,
    uniformity: &'a Uniformity,
) -> Walk<'a> {
    let case = Case { is_limited: true, ..Case::default() };
    walk_with(kernel, uniformity, Some(Noted::Opposites), case)
}

/// The same as if no number wrapped.
pub(in super::super) fn walk_unwrapped_stores<'a>(
    kernel: &'a Kernel,
    uniformity: &'a Uniformity,
) -> Walk<'a> {
    let case = Case { never_wraps: true, ..Case::default() };
    walk_with(kernel, uniformity, Some(Noted::Opposites), case)
}

fn walk_with<'a>(
    kernel: &'a Kernel,
    uniformity: &'a Uniformity,
    noted: Option<Noted>,
    case: Case,
) -> Walk<'a> {
    walk_bounded((kernel, Rc::new(Exact::of(kernel))), uniformity, noted, case)
}

fn walk_bounded<'a>(
    (kernel, exact): (&'a Kernel, Rc<Exact>),
    uniformity: &'a Uniformity,
    noted: Option<Noted>,
    case: Case,
) -> Walk<'a> {
    let mut keepers = Keepers::default();
    loop {
        let (exact, case) = (Rc::clone(&exact), case.clone());
        let walk = walk_knowing((kernel, exact), uniformity, noted, (case, &keepers));
        match walk.kept_below.learned(&keepers) {
            Some(learned) => keepers = learned,
            None => return walk,
        }
    }
}

/// Walks a kernel of which it is known what may keep numbers that stand for ones below 0.
fn walk_knowing<'a>(
    (kernel, exact): (&'a Kernel, Rc<Exact>),
    uniformity: &'a Uniformity,
    noted: Option<Noted>,
    (case, keepers): (Case, &Keepers),
) -> Walk<'a> {
    let mut written = BTreeSet::new();
    super::super::tiles::held::collect_written(&kernel.body, &mut written);
    // What is one work-item's own meets nobody.
    written.retain(|array| !kernel.is_local(*array));
    let asked = Asked::of(kernel);
    let mut walk = Walk {
        kernel,
        uniformity,
        symbols: Symbols::default(),
        functions: BTreeMap::new(),
        differing: Vec::new(),
        differing_here: Vec::new(),
        bits: BTreeMap::new(),
        scattered: BTreeMap::new(),
        by_bits: BTreeMap::new(),
        powers: BTreeSet::new(),
        exponents: BTreeMap::new(),
        bit_counts: BTreeMap::new(),
        no_powers: BTreeSet::new(),
        chosen: BTreeMap::new(),
        choices: BTreeMap::new(),
        chains: BTreeMap::new(),
        naturals: BTreeSet::new(),
        open_choices: BTreeMap::new(),
        turned: BTreeMap::new(),
        tallies: Tallies::new(),
        in_parts: InParts::default(),
        kept_below: KeptBelow::of(keepers.clone()),
        unwrapped: Vec::new(),
        natural: BTreeSet::new(),
        recounts: Vec::new(),
        squares: BTreeSet::new(),
        elements: BTreeMap::new(),
        outside: (noted == Some(Noted::Outside)).then(BTreeMap::new),
        opposites: (noted == Some(Noted::Opposites)).then(Vec::new),
        impossible: Vec::new(),
        extents_of_arrays: BTreeMap::new(),
        is_narrow: false,
        exact,
        preconditions: preconditions(kernel),
        constraints: Vec::new(),
        is_vouched: false,
        grid: Vec::new(),
        block: None,
        env: BTreeMap::new(),
        wholes: Wholes::default(),
        guards: Vec::new(),
        passed_by: Vec::new(),
        loops: Vec::new(),
        all_loops: Vec::new(),
        sites: Vec::new(),
        slots: BTreeMap::new(),
        dealt: BTreeMap::new(),
        relayed: BTreeMap::new(),
        counters: Counters::default(),
        counting: counting(kernel),
        brought: Vec::new(),
        claims: Claims::default(),
        made: Vec::new(),
        marks: Marks::default(),
        sums: BTreeMap::new(),
        together: Vec::new(),
        item_number: None,
        item_count: None,
        warp_place: None,
        common: BTreeMap::new(),
        ballots: Ballots::default(),
        windows: Windows::default(),
        own_cells: OwnCells::default(),
        own_arrays: OwnArrays::default(),
        named: Named::default(),
        running: Vec::new(),
        levels: Vec::new(),
        strides: Vec::new(),
        flat: None,
        number_of_block: None,
        launched: OnceCell::new(),
        lates: Lates::default(),
        cells: Cells::of(kernel),
        agreed_loads: AgreedLoads::default(),
        floors: Floors::of(kernel),
        held: Holdings::of(kernel),
        reread: Reread::default(),
        prefixes: Prefixes::default(),
        local_elements: Elements::of(kernel, &asked, !case.keeps_arrays),
        asked,
        walked: 1,
        effort: Effort::of_kernel(),
        proofs: Known::default(),
        by_indices: Beside::default(),
        by_spans: Default::default(),
        bracketed: Beside::default(),
        weighed: Weighed::default(),
        pairs: Pairs::default(),
        flow: Flow::default(),
        depth: 0,
        exits: Exits::of(kernel, uniformity),
        leaving: leaving(kernel),
        stayed: None,
        recording: true,
        is_at_last: false,
        is_trying: false,
        items: None,
        is_walked: false,
        written,
        point: None,
        eaches: 0,
        by_all: false,
        case,
    };
    walk.enter_header();
    walk.enter_own_cells();
    walk.note_flat();
    walk.note_items();
    walk.stmts(&kernel.body);
    walk.bound_by_takers();
    walk
}
