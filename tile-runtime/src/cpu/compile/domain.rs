//! Domains: that a layout is what it must be, and the order of lanes.
//!
//! Which thread runs an item has no effect on what the item computes, so lanes
//! follow the items in row-major order, where neighbours in memory are
//! neighbours among lanes. What the layout must fulfil is checked first, so that
//! a layout that forgets an item or runs one twice does not pass unseen here.

use tile_ir::program::{Digit, Domain};

use crate::cpu::Order;
use crate::cpu::code::{CHUNK_LANES, Chunking, MAX_AXES, MAX_CHUNK_LANES};

/// The most lanes of a chunk; nothing where items of a warp get each other's values
/// (`by_warps`), whose chunk is the whole domain.
pub(super) fn most_lanes(order: Order, by_warps: bool) -> Option<usize> {
    match order {
        _ if by_warps => None,
        Order::Numbered => Some(CHUNK_LANES),
        Order::Shuffled(_) => Some(1),
    }
}

/// Checks a domain and says how its items fall into chunks of at most so many lanes;
/// into one, where nothing is said.
///
/// # Errors
///
/// The broken rule, in words.
pub(super) fn chunking_of(
    domain: &Domain,
    threads: u32,
    most_lanes: Option<usize>,
) -> Result<Chunking, String> {
    let extents: Vec<usize> = domain.axes.iter().map(|axis| axis.extent as usize).collect();
    if extents.len() > MAX_AXES {
        return Err(format!("a domain has {} axes, at most {MAX_AXES} are run", extents.len()));
    }
    let n_items = extents.iter().try_fold(1usize, |product, &extent| product.checked_mul(extent));
    let n_items = n_items.ok_or("a domain has too many items")?;
    if n_items > 0 {
        check_layout(domain, threads)?;
    }
    if most_lanes.is_none() && n_items > MAX_CHUNK_LANES {
        return Err(format!("the warps of {n_items} items, at most {MAX_CHUNK_LANES} are run"));
    }
    let most_lanes = most_lanes.unwrap_or(MAX_CHUNK_LANES);
    let row_axis = extents.iter().rposition(|&extent| extent > 1);
    let row = row_axis.map_or(1, |axis| extents[axis]);
    let pieces = row.div_ceil(most_lanes).max(1);
    let piece_lanes = row.div_ceil(pieces);
    let n_rows = if pieces > 1 { 1 } else { (most_lanes / piece_lanes.max(1)).max(1) };
    let row_axis = row_axis.unwrap_or(0);
    Ok(Chunking { extents, n_items, row_axis, piece_lanes, n_rows })
}

/// Checks that every item is exactly one (thread, register) pair's, and that
/// the threads exist.
///
/// Each digit adds to one axis, so the pairs are the product of the axes'
/// digits, and the rule holds of the whole where it holds of each axis.
fn check_layout(domain: &Domain, threads: u32) -> Result<(), String> {
    let layout = &domain.layout;
    let layout_threads: u64 = layout.threads.iter().map(|digit| u64::from(digit.size)).product();
    if layout_threads > u64::from(threads) {
        return Err(format!("a layout needs {layout_threads} threads, the block has {threads}"));
    }
    // Threads may share the items of a projection.
    let shared = |digit: &&Digit| domain.projection.is_some() && digit.stride == 0;
    let digits = || layout.threads.iter().chain(&layout.registers).filter(|d| !shared(d));
    if let Some(digit) = digits().find(|digit| digit.axis as usize >= domain.axes.len()) {
        return Err(format!("a layout has a digit of axis {}, which there is not", digit.axis));
    }
    for (axis, described) in (0..).zip(&domain.axes) {
        let mut hits = vec![0u32; described.extent as usize];
        count_hits(&digits().filter(|digit| digit.axis == axis).collect::<Vec<_>>(), 0, &mut hits);
        if let Some(coord) = hits.iter().position(|&count| count != 1) {
            return Err(format!(
                "a layout gives coordinate {coord} of axis `{}` to {} (thread, register) pairs",
                described.name, hits[coord]
            ));
        }
    }
    Ok(())
}

/// Counts how often each coordinate is reached from `start` by the digits.
fn count_hits(digits: &[&Digit], start: u64, hits: &mut [u32]) {
    match digits {
        [] => {
            if let Some(count) = usize::try_from(start).ok().and_then(|at| hits.get_mut(at)) {
                *count = count.saturating_add(1);
            }
        }
        [digit, rest @ ..] => {
            for value in 0..u64::from(digit.size) {
                count_hits(rest, start + value * u64::from(digit.stride), hits);
            }
        }
    }
}
