//! Accesses that leave their tile at launches that are looked for.
//!
//! `if in_bounds(a[g, t]) { s[t + 1] = …; }` leaves a tile of 256 elements where rows are as long
//! as the block: at none of the small sizes. What stands around an access, and that its index is
//! outside, is made to come together ([`super::joint`]); such a launch is then run as any other.
//! So are launches with large numbers ([`super::large`]).

use std::collections::BTreeSet;

use super::assumed::Put;
use super::data::Pool;
use super::machine::{Blocks, Machine, Stop};
use super::plain::Plain;
use super::plan::Plan;
use super::sizes::{Choice, Sizes};
use super::{BUDGET, Findings, Stray, assumptions, joint, large};
use crate::arena::EntityId as _;
use crate::kernel::{ArrayRef, Kernel, TileId, Var, VarId, VarKind};
use crate::span::SpanId;

/// What may be spent on the launches of one tile, and at least on one of them.
const FUEL: u32 = BUDGET / 2;
const OF_ONE: u32 = BUDGET / 64;

/// What may be spent on launches with large numbers.
const OF_LARGE: u32 = BUDGET / 8;

/// The part of what is left that one launch may spend, at least so much.
const OF_ALL: u32 = 2;

/// Those of a tile's accesses that leave it at some launch, of these.
pub(crate) fn leaving(kernel: &Kernel, tile: TileId, accesses: &BTreeSet<SpanId>) -> Vec<Stray> {
    let plain = Plain::of(kernel);
    let text = joint::Text::of(&plain, &BTreeSet::from([tile]));
    let pool = Pool::of(kernel);
    let assumptions = assumptions(kernel);
    let put = Put::of(kernel, &assumptions);
    let choice = Choice::of(kernel, &pool);
    let starts = choice.sizes_of_each_tile();
    let starts: Vec<Sizes> = starts.map(|sizes| put.at(sizes)).collect();
    let plan = Plan::for_fills(kernel, assumptions, &|array| array == ArrayRef::Tile(tile));
    let mut found = Findings::default();
    let mut left = FUEL;
    let mut run = |launch: &joint::Launch, left: &mut u32| {
        let before = found.strays.len();
        let block = [launch.block.clone()];
        // What is too long to be run whole is run in part.
        for is_sparse in [false, true] {
            let given = (*left / OF_ALL).max(OF_ONE).min(*left);
            let mut fuel = given;
            let machine = Machine::new(kernel, &plan, &launch.sizes, &pool, &mut found, &mut fuel);
            let machine = machine.for_fills(true).given(Some(&launch.given));
            let machine = if is_sparse { machine.sparse() } else { machine };
            let run = machine.run(Blocks::At(&block));
            *left -= given - fuel;
            if run == Err(Stop::Excluded) {
                found.strays.truncate(before);
            }
            if run != Err(Stop::Budget) || found.strays.len() > before {
                break;
            }
        }
    };
    if let Some(launch) = below_zero(kernel, &starts) {
        run(&launch, &mut left);
    }
    let of_rounds = joint::many_rounds(&text, &starts);
    for goals in joint::outside(&text, accesses).into_iter().chain(of_rounds) {
        for launch in joint::find(&text, &goals, &starts) {
            run(&launch, &mut left);
        }
        if left == 0 {
            break;
        }
    }
    let mut left = OF_LARGE;
    for mut launch in large::launches(kernel, &choice) {
        launch.sizes = put.at(launch.sizes);
        run(&launch, &mut left);
    }
    found.strays
}

/// A launch in which all scalars that may be are below 0: what counts down to one goes beyond 0.
fn below_zero(kernel: &Kernel, starts: &[Sizes]) -> Option<joint::Launch> {
    let mut sizes = starts.first()?.clone();
    let is_signed = |var: &Var| {
        let range = var.ty.integer_range().filter(|_| matches!(var.kind, VarKind::Scalar(_)));
        range.is_some_and(|(least, _)| least < 0)
    };
    let signed: Vec<VarId> =
        kernel.vars.iter().filter(|(_, var)| is_signed(var)).map(|(id, _)| id).collect();
    signed.first()?;
    signed.into_iter().for_each(|var| sizes.values[var.index()] = Some(-1));
    let block = vec![0; kernel.grid.len()];
    Some(joint::Launch { sizes, block, given: joint::Given::default(), doubts: None })
}
