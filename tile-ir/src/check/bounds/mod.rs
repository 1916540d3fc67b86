//! TK0201: an index that can leave its tile's extents at an admissible size.
//!
//! Shown in this order:
//!
//! 1. leaves: by running the kernel's skeleton at small sizes
//!    ([`crate::solve::skeleton`]), which follows assignments, loops and guards;
//! 2. stays: by the signs of polynomials ([`super::poly`]), for all sizes, or by what holds
//!    where it is made ([`crate::solve::symbolic`]);
//! 3. leaves: by trying cases of the index and its guards ([`super::sample`]),
//!    at more sizes than a whole kernel is run at, first those that lead to the largest
//!    and the smallest index;
//! 4. leaves: by running it with counters whose updates data does not decide ([`slots`]);
//! 5. leaves: by running it at launches at which what stands around the access comes together
//!    ([`crate::solve::skeleton`], `leaving`).
//!
//! What neither leaves nor is shown to stay is undecided, and accepted: lowering
//! guards every index that it cannot show to be inside. So does an index made of
//! loaded data stay undecided, and one that goes up to a number which the kernel has
//! counted ([`super::counted`]).

mod example;
mod launches;
mod slots;
mod uses;

use std::cell::LazyCell;
use std::collections::BTreeSet;

use self::example::{Example, search, values};
use self::launches::Launches;
use self::slots::Slots;
use self::uses::{Use, Uses};
use super::counted::Counts;
use super::fold::enter_all;
use super::poly::{Bounds, Poly};
use super::sample::Sources;
use crate::check::Uniformity;
use crate::diag::{Code, Diagnostic, Diagnostics};
use crate::kernel::{Access, ArrayRef, Kernel, Source, print_access, print_expr};
use crate::solve::skeleton::Stray;
use crate::solve::symbolic::staying;
use crate::span::SpanId;

/// Evaluations of variables on the ways uphill of one kernel.
const CLIMBED: u32 = 60_000;

/// The accesses to a kernel's tiles, in the order of its text, each with whether it is
/// shown to stay inside, at all sizes.
pub(super) struct Accesses<'a> {
    kernel: &'a Kernel,
    found: Vec<(Use<'a>, bool)>,
}

impl<'a> Accesses<'a> {
    pub(super) fn of(kernel: &'a Kernel) -> Self {
        let mut bounds = Bounds::new(kernel);
        enter_all(kernel, &kernel.body, &mut bounds);
        let judged = |used: Use<'a>| {
            let stays = stays(kernel, &mut bounds, used.access);
            (used, stays)
        };
        Self { kernel, found: Uses::of(kernel).into_iter().map(judged).collect() }
    }

    /// Shows of further ones that they stay inside, in a kernel without a race.
    pub(super) fn prove(&mut self, uniformity: &Uniformity) {
        let place = |used: &Use<'_>| (used.access.span, used.access.array);
        let open: BTreeSet<_> =
            self.found.iter().filter(|(_, stays)| !stays).map(|(used, _)| place(used)).collect();
        if open.is_empty() {
            return;
        }
        let staying = staying(self.kernel, uniformity, &open);
        for (used, stays) in &mut self.found {
            *stays |= staying.contains(&place(used));
        }
    }

    /// Whether all of them are shown to stay inside.
    pub(super) fn all_stay(&self) -> bool {
        self.found.iter().all(|(_, stays)| *stays)
    }

    /// Reports those that leave their tile: those found by running the kernel,
    /// and further ones. Gives the tiles that they belong to.
    pub(super) fn check(&self, strays: &[Stray], diags: &mut Diagnostics) -> BTreeSet<ArrayRef> {
        let kernel = self.kernel;
        let sources = Sources::of(kernel);
        let counts = LazyCell::new(|| Counts::of(kernel));
        let slots = LazyCell::new(|| Slots::of(kernel));
        let launches = Launches::of(self);
        let mut reported: BTreeSet<SpanId> = BTreeSet::new();
        let mut stray = BTreeSet::new();
        let n_open = self.found.iter().filter(|(_, stays)| !stays).count();
        let evaluations = CLIMBED / u32::try_from(n_open.max(1)).unwrap_or(u32::MAX);
        for (used, stays) in &self.found {
            if reported.contains(&used.access.span) {
                continue;
            }
            let ran = strays.iter().find(|stray| stray.site.span == used.access.span);
            let is_counted = || counts.limit(&used.limits, &used.access.indices);
            // What data counts is no less than 0, and may be any number above it.
            let is_open = |stray: &Stray| {
                let is_above = stray.element.get(stray.axis.0).is_some_and(|index| *index >= 0);
                stray.cause.is_some() && is_above && is_counted()
            };
            let of_run = |stray: &Stray| (!is_open(stray)).then(|| Example::of_run(kernel, stray));
            let searched = || search(kernel, &sources, used, evaluations);
            let example = match ran {
                // A run may have taken a block that is further away than need be.
                Some(stray) if Example::is_elsewhere(stray) => searched().or_else(|| of_run(stray)),
                Some(stray) => of_run(stray),
                None if *stays => None,
                None => searched()
                    .or_else(|| slots.stray(used).map(|stray| Example::of_run(kernel, &stray)))
                    .or_else(|| of_run(launches.stray(used)?)),
            };
            if let Some(example) = example {
                reported.insert(used.access.span);
                stray.insert(used.access.array);
                diags.push(report(kernel, used.access, &example));
            }
        }
        stray
    }
}

/// Whether an access is inside at every size, whatever guards it.
fn stays(kernel: &Kernel, bounds: &mut Bounds<'_>, access: &Access) -> bool {
    access.indices.iter().zip(kernel.extents(access.array)).all(|(index, extent)| {
        let (index, extent) = (bounds.poly(*index), bounds.poly(*extent));
        let room = extent.sub(&Poly::constant(1)).sub(&index);
        bounds.is_never_negative(&index) && bounds.is_never_negative(&room)
    })
}

fn report(kernel: &Kernel, access: &Access, example: &Example) -> Diagnostic {
    let name = kernel.array_name(access.array);
    let (axis, extent) = example.axis;
    let index = example.element[axis];
    let text = print_access(kernel, access);
    let side = if index < 0 { "before the first" } else { "past the last" };
    let of = if example.element.len() == 1 {
        "element".to_owned()
    } else {
        format!("element of axis {axis}")
    };
    let word = kernel.array_word(access.array);
    let message = format!("`{text}` can be {side} {of} of the {word} `{name}`");
    let extents: Vec<String> =
        kernel.extents(access.array).iter().map(|extent| print_expr(kernel, *extent)).collect();
    let declared = match access.array {
        ArrayRef::Tile(tile) => kernel.tiles[tile].span,
        ArrayRef::Tensor(tensor) => kernel.tensors[tensor].span,
    };
    let element: Vec<String> = example.element.iter().map(ToString::to_string).collect();
    let mut what = format!("{} uses `{name}[{}]`", example.worker, element.join(", "));
    if !example.counters.is_empty() {
        what = format!("{what} at {}", values(kernel, &example.counters));
    }
    if !example.sizes.is_empty() {
        what = format!("with {}, {what}", values(kernel, &example.sizes));
    }
    let which = if example.element.len() == 1 { String::new() } else { format!(" of axis {axis}") };
    let what = if extent > 0 {
        format!("{what}; the indices{which} are 0 to {}", extent - 1)
    } else {
        format!("{what}, which then has no elements")
    };
    let mut diagnostic = Diagnostic::error(Code::TileBounds, access.span, message)
        .label(declared, format!("`{name}` has the extents `[{}]`", extents.join(", ")))
        .note(what);
    if let Some(source) = example.cause {
        let text = source.text(kernel);
        let what = match source {
            Source::Load(_) => "loaded",
            Source::Old(_) => "old value",
            Source::Launch(_) => "parameter",
        };
        diagnostic =
            diagnostic.note(format!("the {what} `{text}` decides whether it comes to that"));
    }
    let tested = print_expr(kernel, access.indices[axis]);
    diagnostic.help(if index < 0 {
        format!("let the index begin at 0, or put the access under `if {tested} >= 0 {{ … }}`")
    } else {
        format!(
            "make the {word} larger, or the index smaller, or put the access under \
             `if {tested} < {} {{ … }}`",
            extents[axis]
        )
    })
}
