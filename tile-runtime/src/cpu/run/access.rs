//! From the indices of an access to elements of memory.
//!
//! An access along affine indices is a row of evenly spaced elements for each
//! row of the chunk, and what its guards leave of a row is an interval: no
//! comparison per lane, no address per lane. All other accesses compute an
//! offset and a flag for each lane.

use std::ops::Range;

use tile_ir::program::Swizzle;

use super::array::ArrayView;
use super::chunk::Chunk;
use crate::cpu::code::{Access, AccessAxis, Affine, Index, MAX_AXES, MAX_CHUNK_LANES, Slot};

/// An access without a guard that left its array.
#[derive(Clone, Copy, Debug)]
pub(super) struct Outside {
    /// The array.
    pub(super) array: usize,
    /// The axis.
    pub(super) axis: usize,
    /// The index.
    pub(super) index: i64,
    /// The extent.
    pub(super) extent: i64,
    /// The first lane of which it is.
    pub(super) lane: usize,
}

/// One row of an access.
pub(super) struct Row {
    /// Its first lane within the chunk.
    pub(super) first_lane: usize,
    /// Its number of lanes.
    pub(super) n_lanes: usize,
    /// The lanes, within the row, whose element is accessed.
    pub(super) inside: Range<usize>,
    /// The offset in elements of the first lane inside.
    pub(super) offset: i64,
    /// From lane to lane, in elements.
    pub(super) step: i64,
}

/// Whether an access can be made row by row.
pub(super) fn is_by_rows(access: &Access, view: &ArrayView) -> bool {
    access.mask.is_none()
        && view.swizzle.is_none()
        && access.axes.iter().all(|axis| matches!(axis.index, Index::Affine(_)))
}

/// The affine index along an axis; a constant 0 for one that has lanes.
fn affine_of(axis: &AccessAxis) -> &Affine {
    const ZERO: &Affine = &Affine { constant: 0, base: None, coefs: Vec::new() };
    match &axis.index {
        Index::Affine(affine) => affine,
        Index::Lanes(_) => ZERO,
    }
}

/// The part of an index that is the same for all lanes.
fn uniform_part(affine: &Affine, uniforms: &[u64]) -> i128 {
    let base = affine.base.map_or(0, |base| uniforms[base as usize].cast_signed());
    i128::from(affine.constant) + i128::from(base)
}

/// Bases beyond this do not take the short way, where sums are of 64 bits.
const MAX_SHORT_BASE: i64 = 1 << 61;

/// Calls `visit` for each row of an access by rows.
///
/// Every lane that a row has inside names an element of the array: all its
/// indices are within the extents.
pub(super) fn visit_rows(
    access: &Access,
    view: &ArrayView,
    uniforms: &[u64],
    chunk: &Chunk,
    mut visit: impl FnMut(Row),
) -> Result<(), Outside> {
    let Some((constant, coefs)) = interior(access, view, uniforms, chunk) else {
        return visit_edge_rows(access, view, uniforms, chunk, visit);
    };
    let n_lanes = chunk.row_lanes;
    let step = coefs[chunk.row_axis];
    let mut coords = chunk.first;
    for row in 0..chunk.n_rows {
        if row > 0 {
            chunk.next_row(&mut coords);
        }
        // The terms may wrap; their sum is an offset within the array.
        let mut offset = constant;
        for axis in 0..=chunk.row_axis {
            offset = offset.wrapping_add(coefs[axis].wrapping_mul(coords[axis]));
        }
        visit(Row { first_lane: row * n_lanes, n_lanes, inside: 0..n_lanes, offset, step });
    }
    Ok(())
}

/// The offset in elements of the chunk's first lane, where those of all lanes follow one
/// after the other and are inside the array.
pub(super) fn contiguous(
    access: &Access,
    view: &ArrayView,
    uniforms: &[u64],
    chunk: &Chunk,
) -> Option<i64> {
    // Whether they are inside is only asked where the order of elements is right.
    if !is_by_rows(access, view) || step_of_rows(access, view, chunk) != 1 {
        return None;
    }
    let (constant, coefs) = interior(access, view, uniforms, chunk)?;
    chunk.is_run(&coefs).then(|| {
        let terms = coefs.iter().zip(&chunk.first).map(|(coef, first)| coef.wrapping_mul(*first));
        // The terms may wrap; their sum is an offset within the array.
        terms.fold(constant, i64::wrapping_add)
    })
}

/// From lane to lane of a row, in elements; of indices that are inside.
fn step_of_rows(access: &Access, view: &ArrayView, chunk: &Chunk) -> i64 {
    let axes = access.axes.iter().zip(&view.strides);
    axes.fold(0, |step, (axis, stride)| {
        let coef = affine_of(axis).coefs.get(chunk.row_axis).copied().unwrap_or(0);
        step.wrapping_add(coef.wrapping_mul(*stride))
    })
}

/// The offset at coordinates 0 and its coefficients, where all indices of the
/// chunk are within the extents.
fn interior(
    access: &Access,
    view: &ArrayView,
    uniforms: &[u64],
    chunk: &Chunk,
) -> Option<(i64, [i64; MAX_AXES])> {
    let mut offset = 0i64;
    let mut coefs = [0i64; MAX_AXES];
    for (at, axis) in access.axes.iter().enumerate() {
        let affine = affine_of(axis);
        let base = affine.base.map_or(0, |base| uniforms[base as usize].cast_signed());
        if !(-MAX_SHORT_BASE..MAX_SHORT_BASE).contains(&base) {
            return None;
        }
        let uniform = affine.constant + base;
        let (mut low, mut high) = (uniform, uniform);
        let stride = view.strides[at];
        for (axis, &coef) in affine.coefs.iter().enumerate() {
            let ends = [coef * chunk.low[axis], coef * chunk.high[axis]];
            low += ends[0].min(ends[1]);
            high += ends[0].max(ends[1]);
            coefs[axis] = coefs[axis].wrapping_add(coef.wrapping_mul(stride));
        }
        if low < 0 || high >= view.extents[at] {
            return None;
        }
        offset = offset.wrapping_add(uniform.wrapping_mul(stride));
    }
    Some((offset, coefs))
}

fn visit_edge_rows(
    access: &Access,
    view: &ArrayView,
    uniforms: &[u64],
    chunk: &Chunk,
    mut visit: impl FnMut(Row),
) -> Result<(), Outside> {
    let n_lanes = chunk.row_lanes;
    let mut coords = chunk.first;
    for row in 0..chunk.n_rows {
        if row > 0 {
            chunk.next_row(&mut coords);
        }
        let mut starts = [0i128; MAX_AXES];
        let mut steps = [0i128; MAX_AXES];
        let mut inside = 0..n_lanes;
        for (at, axis) in access.axes.iter().enumerate() {
            let affine = affine_of(axis);
            starts[at] = uniform_part(affine, uniforms);
            for (axis, &coef) in affine.coefs.iter().enumerate() {
                starts[at] += i128::from(coef) * i128::from(coords[axis]);
            }
            steps[at] = i128::from(affine.coefs.get(chunk.row_axis).copied().unwrap_or(0));
            let low = if axis.guard.lower { 0 } else { i128::MIN };
            let high = if axis.guard.upper { i128::from(view.extents[at]) } else { i128::MAX };
            inside = intersection(&inside, lanes_within(starts[at], steps[at], low, high));
        }
        let at_lane = |at: usize, lane: usize| starts[at] + steps[at] * lane as i128;
        let (mut offset, mut step) = (0, 0);
        for (at, &extent) in view.extents[..access.axes.len()].iter().enumerate() {
            let within = lanes_within(starts[at], steps[at], 0, extent.into());
            let within = intersection(&inside, within);
            if within != inside && !inside.is_empty() {
                let begins_outside = within.is_empty() || within.start != inside.start;
                let first = if begins_outside { inside.start } else { within.end };
                let index = at_lane(at, first).clamp(i64::MIN.into(), i64::MAX.into()) as i64;
                let lane = row * n_lanes + first;
                return Err(Outside { array: access.array, axis: at, index, extent, lane });
            }
            let stride = i128::from(view.strides[at]);
            offset += at_lane(at, inside.start) * stride;
            step += steps[at] * stride;
        }
        // Where a lane is inside, offsets are within the array's memory; where
        // none is, they are not used.
        let (offset, step) = (offset as i64, step as i64);
        visit(Row { first_lane: row * n_lanes, n_lanes, inside, offset, step });
    }
    Ok(())
}

fn intersection(a: &Range<usize>, b: Range<i128>) -> Range<usize> {
    let start = b.start.clamp(a.start as i128, a.end as i128) as usize;
    let end = b.end.clamp(start as i128, a.end as i128) as usize;
    start..end.max(start)
}

/// The lanes `j` for which `low <= start + step * j < high`.
fn lanes_within(start: i128, step: i128, low: i128, high: i128) -> Range<i128> {
    let end = MAX_CHUNK_LANES as i128;
    if step == 0 {
        return if low <= start && start < high { 0..end } else { 0..0 };
    }
    // The first lane from which `start + step * j >= limit`, or `<` for falling
    // rows.
    let crossing = |limit: i128| {
        if limit == i128::MIN {
            return if step > 0 { 0 } else { end };
        }
        if limit == i128::MAX {
            return if step > 0 { end } else { 0 };
        }
        let distance = if step > 0 { limit - start } else { start - limit + 1 };
        let lanes = distance.max(0) + step.abs() - 1;
        (lanes / step.abs()).min(end)
    };
    if step > 0 { crossing(low)..crossing(high) } else { crossing(high)..crossing(low) }
}

/// Offsets and flags of the lanes of an access that is not made by rows.
#[derive(Debug)]
pub(super) struct LaneAddresses {
    /// In elements; meaningless where the flag is not set.
    pub(super) offsets: Vec<i64>,
    /// Whether the lane's element is accessed.
    pub(super) inside: Vec<bool>,
    index: Vec<i64>,
    outside: Vec<bool>,
}

impl LaneAddresses {
    /// Room for the lanes of a chunk.
    pub(super) fn new() -> Self {
        Self {
            offsets: vec![0; MAX_CHUNK_LANES],
            inside: vec![false; MAX_CHUNK_LANES],
            index: vec![0; MAX_CHUNK_LANES],
            outside: vec![false; MAX_CHUNK_LANES],
        }
    }

    /// Computes the addresses of a chunk's lanes. `lanes` reads a slot's index
    /// lanes into the slice; `mask` holds whether each lane takes part.
    ///
    /// Every lane that is inside names an element of the array.
    pub(super) fn resolve(
        &mut self,
        access: &Access,
        view: &ArrayView,
        uniforms: &[u64],
        chunk: &Chunk,
        mask: impl Fn(usize) -> bool,
        read_lanes: impl Fn(Slot, &mut [i64]),
    ) -> Result<(), Outside> {
        let n = chunk.n_lanes();
        let Self { offsets, inside, index, outside } = self;
        let (offsets, inside) = (&mut offsets[..n], &mut inside[..n]);
        let (index, outside) = (&mut index[..n], &mut outside[..n]);
        offsets.fill(0);
        outside.fill(false);
        for (lane, flag) in inside.iter_mut().enumerate() {
            *flag = mask(lane);
        }
        for (at, axis) in access.axes.iter().enumerate() {
            read_index(axis, uniforms, chunk, &read_lanes, index);
            let (extent, stride) = (view.extents[at], view.strides[at]);
            let is_choice = view.swizzle.is_some() && at + 1 == view.n_axes;
            if let (true, Some(swizzle)) = (is_choice, view.swizzle) {
                swizzle_all(swizzle, offsets);
            }
            for lane in 0..n {
                let (below, above) = (index[lane] < 0, index[lane] >= extent);
                inside[lane] &= !(axis.guard.lower & below) & !(axis.guard.upper & above);
                outside[lane] |= (!axis.guard.lower & below) | (!axis.guard.upper & above);
                offsets[lane] = offsets[lane].wrapping_add(index[lane].wrapping_mul(stride));
            }
        }
        if let (Some(swizzle), true) = (view.swizzle, access.axes.len() < view.n_axes) {
            swizzle_all(swizzle, offsets);
        }
        let bad = (0..n).find(|&lane| inside[lane] & outside[lane]);
        let Some(bad) = bad else { return Ok(()) };
        for (at, axis) in access.axes.iter().enumerate() {
            read_index(axis, uniforms, chunk, &read_lanes, index);
            let extent = view.extents[at];
            if !(0..extent).contains(&index[bad]) {
                let (array, index) = (access.array, index[bad]);
                return Err(Outside { array, axis: at, index, extent, lane: bad });
            }
        }
        Ok(())
    }
}

fn read_index(
    axis: &AccessAxis,
    uniforms: &[u64],
    chunk: &Chunk,
    read_lanes: &impl Fn(Slot, &mut [i64]),
    index: &mut [i64],
) {
    match &axis.index {
        Index::Lanes(slot) => read_lanes(*slot, index),
        Index::Affine(affine) => write_coords(affine, uniforms, chunk, index),
    }
}

/// Writes the lanes of an affine index.
pub(super) fn write_coords(affine: &Affine, uniforms: &[u64], chunk: &Chunk, lanes: &mut [i64]) {
    let step = affine.coefs.get(chunk.row_axis).copied().unwrap_or(0);
    let uniform = uniform_part(affine, uniforms) as i64;
    let mut coords = chunk.first;
    for row in lanes.chunks_exact_mut(chunk.row_lanes) {
        let products = affine.coefs.iter().zip(&coords).map(|(&coef, &coord)| coef * coord);
        let start = uniform.wrapping_add(products.sum());
        for (lane, value) in row.iter_mut().enumerate() {
            *value = start.wrapping_add(step.wrapping_mul(lane as i64));
        }
        chunk.next_row(&mut coords);
    }
}

/// An affine index in one lane.
pub(super) fn index_at(affine: &Affine, uniforms: &[u64], chunk: &Chunk, lane: usize) -> i64 {
    let mut coords = chunk.first;
    (0..lane / chunk.row_lanes).for_each(|_| chunk.next_row(&mut coords));
    coords[chunk.row_axis] += (lane % chunk.row_lanes) as i64;
    let products = affine.coefs.iter().zip(&coords).map(|(&coef, &coord)| coef * coord);
    (uniform_part(affine, uniforms) as i64).wrapping_add(products.sum())
}

fn swizzle_all(swizzle: Swizzle, offsets: &mut [i64]) {
    let Swizzle { bits, shift, source } = swizzle;
    for offset in offsets {
        *offset ^= ((*offset >> source) & ((1 << bits) - 1)) << shift;
    }
}
