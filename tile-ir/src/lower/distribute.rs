//! Distribute: puts the items of each domain on the block's threads.
//!
//! The block domain takes the configuration's threads per axis; a cooperative
//! loop runs along the unit stride of the global memory that it touches, so
//! that the accesses of a warp coalesce: neighbouring items lie on neighbouring
//! threads, a thread's next item is one pass of the threads further on.

use super::divisor::Divisors;
use super::vectorise::{elem_bytes, is_group};
use crate::config::{AxisItems, Config};
use crate::exchange::WARP_ITEMS;
use crate::kernel;
use crate::op::BinaryOp;
use crate::program::{
    Access, BufferSpace, Digit, DomainId, ExprId, ExprKind, ItemLayout, ProgramKernel, Raster,
    Scope, Stmt, StmtKind, Target, Walk,
};

/// Bytes of a line of the caches.
const LINE_BYTES: u32 = 128;

/// Gives every domain its layout on `config.threads` threads and the grid its
/// raster. Assumes that no barrier orders two items of one domain within an
/// `Items`; guarantees that every item is on exactly one thread and register.
pub(super) fn distribute_items(
    kernel: &mut ProgramKernel,
    config: &Config,
    divisors: &[(kernel::VarId, u32)],
) {
    let threads = config.threads.max(1);
    kernel.threads = threads;
    let domains: Vec<DomainId> = kernel.domains.ids().collect();
    let body = kernel.body.clone();
    let divisors = Divisors::of(&body, divisors);
    for id in domains {
        let extents = kernel.domains[id].extents();
        let layout = if moves_in_warps(&body, id) {
            ItemLayout::one_per_thread(&extents)
        } else if id == kernel.block_domain && !config.block.is_empty() {
            block_layout(&extents, config)
        } else {
            let fastest = fastest_axis(kernel, id, &global_accesses(kernel, id));
            cooperative_layout(kernel, id, fastest, config, &divisors)
        };
        kernel.domains[id].layout = layout;
    }
    kernel.raster = match (config.raster_rows, kernel.grid.len()) {
        (0 | 1, _) | (_, 0 | 1) => Raster::RowMajor,
        (rows, _) => Raster::Grouped { rows },
    };
}

/// Whether items of a warp do something together in this domain, which therefore stay a
/// warp.
fn moves_in_warps(stmts: &[Stmt], domain: DomainId) -> bool {
    stmts.iter().any(|stmt| match &stmt.kind {
        StmtKind::Items { domain: of, body } => *of == domain && has_warp_scope(body),
        kind => kind.bodies().into_iter().any(|body| moves_in_warps(body, domain)),
    })
}

fn has_warp_scope(stmts: &[Stmt]) -> bool {
    stmts
        .iter()
        .any(|stmt| stmt.scope == Scope::Warp || stmt.kind.bodies().into_iter().any(has_warp_scope))
}

/// The layout of a cooperative loop: along the fastest axis a thread takes as
/// many consecutive points as one access of the configuration's width holds,
/// where global memory can be accessed so; single points elsewhere.
pub(super) fn cooperative_layout(
    kernel: &mut ProgramKernel,
    id: DomainId,
    fastest: usize,
    config: &Config,
    divisors: &Divisors<'_>,
) -> ItemLayout {
    let extents = kernel.domains[id].extents();
    let threads = config.threads.max(1);
    let accesses = global_accesses(kernel, id);
    let widest = accesses.iter().map(|access| elem_bytes(kernel, access.target)).max();
    let mut run = widest.map_or(1, |bytes| config.copy_bytes / bytes).max(1);
    while run > 1 {
        let layout = strided(&extents, threads, fastest, run);
        kernel.domains[id].layout = layout.clone();
        let whole = extents.get(fastest).is_some_and(|extent| extent.is_multiple_of(run));
        let is_group = |access: &Access| is_group(kernel, divisors, access, id, run);
        if whole && accesses.iter().all(is_group) {
            return layout;
        }
        run /= 2;
    }
    strided(&extents, threads, fastest, 1)
}

/// The layout of a loop that writes rows of aligned elements along `fastest`: a
/// thread takes as many as one access of the configuration's width holds, a warp
/// one line of the cache in each row.
pub(super) fn row_layout(
    extents: &[u32],
    config: &Config,
    fastest: usize,
    elem_bytes: u32,
) -> ItemLayout {
    let all = config.threads.max(1);
    let run = (config.copy_bytes / elem_bytes).max(1);
    let runs = extents[fastest].div_ceil(run).next_power_of_two();
    let lanes = (LINE_BYTES / (run * elem_bytes)).clamp(1, runs.min(WARP_ITEMS).min(all));
    let mut layout = ItemLayout::default();
    push_digit(&mut layout.registers, fastest, run, 1);
    push_digit(&mut layout.threads, fastest, lanes, run);
    let mut strides = vec![1; extents.len()];
    strides[fastest] = run * lanes;
    let mut take = |axis: usize, most: u32| {
        let whole = extents[axis].next_power_of_two();
        let threads = (whole / strides[axis]).clamp(1, most);
        push_digit(&mut layout.threads, axis, threads, strides[axis]);
        strides[axis] *= threads;
        threads
    };
    let order = inwards(extents.len(), fastest);
    let mut left = all / lanes;
    let mut of_warp = (WARP_ITEMS / lanes).min(left);
    for &axis in &order[1..] {
        let threads = take(axis, of_warp);
        of_warp /= threads;
        left /= threads;
    }
    order.iter().for_each(|&axis| left /= take(axis, left));
    for axis in order {
        let passes = extents[axis].div_ceil(strides[axis]);
        push_digit(&mut layout.registers, axis, passes, strides[axis]);
    }
    layout
}

/// The axes of a domain: `fastest`, then the others from the innermost on.
fn inwards(n_axes: usize, fastest: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..n_axes).rev().collect();
    order.sort_by_key(|&axis| axis != fastest);
    order
}

/// Runs of `run` points along `fastest` on neighbouring threads; then inwards to
/// outwards while there are threads.
pub(super) fn strided(extents: &[u32], threads: u32, fastest: usize, run: u32) -> ItemLayout {
    let mut layout = ItemLayout::default();
    let mut left = threads;
    for axis in inwards(extents.len(), fastest) {
        let run = if axis == fastest { run } else { 1 };
        let threads = (extents[axis] / run).clamp(1, left);
        left /= threads;
        push_digit(&mut layout.registers, axis, run, 1);
        push_digit(&mut layout.threads, axis, threads, run);
        push_digit(
            &mut layout.registers,
            axis,
            extents[axis].div_ceil(threads * run),
            threads * run,
        );
    }
    layout
}

/// The block domain's layout, as the configuration says it.
fn block_layout(extents: &[u32], config: &Config) -> ItemLayout {
    let axes = &config.block;
    let is_tiled = axes.iter().map(|axis| axis.lanes).product::<u32>() == WARP_ITEMS
        && axes.iter().all(|axis| axis.threads.is_multiple_of(axis.lanes));
    let walk = if config.by_columns { Walk::DownColumns } else { Walk::BackAndForth };
    let mut layout = ItemLayout { walk, ..ItemLayout::default() };
    let axes: Vec<(usize, AxisItems)> = axes.iter().copied().enumerate().rev().collect();
    if is_tiled {
        push_lanes(&mut layout, &axes, config.paired_lanes);
    }
    for &(axis, items) in &axes {
        let lanes = if is_tiled { items.lanes } else { 1 };
        push_digit(&mut layout.threads, axis, items.threads / lanes, items.run * lanes);
        push_digit(&mut layout.registers, axis, items.run, 1);
    }
    for &(axis, items) in &axes {
        let pass = items.threads * items.run;
        let passes = extents[axis].div_ceil(pass.max(1));
        push_digit(&mut layout.registers, axis, passes, pass);
    }
    layout
}

/// The lanes of a warp, row-major; or in pairs along each axis, then row-major.
fn push_lanes(layout: &mut ItemLayout, axes: &[(usize, AxisItems)], is_paired: bool) {
    let pair = |items: &AxisItems| if is_paired && items.lanes.is_multiple_of(2) { 2 } else { 1 };
    for (axis, items) in axes {
        push_digit(&mut layout.threads, *axis, pair(items), items.run);
    }
    for (axis, items) in axes {
        let pair = pair(items);
        push_digit(&mut layout.threads, *axis, items.lanes / pair, items.run * pair);
    }
}

/// A digit of one value says nothing.
fn push_digit(digits: &mut Vec<Digit>, axis: usize, size: u32, stride: u32) {
    if size > 1 {
        digits.push(Digit { axis: axis as u32, size, stride });
    }
}

/// The axis of a domain along which its global accesses have unit stride; the
/// last where they say nothing. Most accesses win.
fn fastest_axis(kernel: &ProgramKernel, domain: DomainId, accesses: &[Access]) -> usize {
    let n_axes = kernel.domains[domain].axes.len();
    let mut votes = vec![0u32; n_axes];
    for index in accesses.iter().filter_map(|access| unit_index(kernel, access)) {
        for (axis, count) in votes.iter_mut().enumerate() {
            *count += u32::from(has_unit_stride(kernel, index, domain, axis as u32));
        }
    }
    let last = n_axes.saturating_sub(1);
    let most = votes.iter().copied().max().unwrap_or(0);
    if most == 0 || votes.get(last) == Some(&most) {
        return last;
    }
    votes.iter().position(|&n| n == most).unwrap_or(last)
}

/// The index along which an array lies without gaps, where that is known.
fn unit_index(kernel: &ProgramKernel, access: &Access) -> Option<ExprId> {
    let Target::Buffer(id) = access.target else { return access.indices.last().copied() };
    let mut axes = kernel.buffers[id].strides.iter().zip(&access.indices).rev();
    axes.find(|(stride, _)| kernel.constant(**stride) == Some(1)).map(|(_, index)| *index)
}

fn visit_domain(stmts: &[Stmt], domain: DomainId, f: &mut impl FnMut(&Stmt)) {
    for stmt in stmts {
        match &stmt.kind {
            StmtKind::Items { domain: found, body } => {
                if *found == domain {
                    visit_all(body, f);
                }
            }
            _ => stmt.kind.bodies().iter().for_each(|body| visit_domain(body, domain, f)),
        }
    }
}

/// Whether an access is one of global memory.
fn is_global(kernel: &ProgramKernel, access: &Access) -> bool {
    match access.target {
        Target::Buffer(id) => kernel.buffers[id].space == BufferSpace::Global,
        Target::Tile(_) => false,
    }
}

/// The accesses to global memory by the items of a domain.
pub(super) fn global_accesses(kernel: &ProgramKernel, domain: DomainId) -> Vec<Access> {
    fn loads(kernel: &ProgramKernel, id: ExprId, found: &mut Vec<Access>) {
        if let ExprKind::Load(access) = &kernel.exprs[id].kind {
            found.push(access.clone());
            // What stands for an element that is outside is read at the edges alone.
            let places = access.slot.iter().chain(&access.indices);
            return places.for_each(|&index| loads(kernel, index, found));
        }
        kernel.exprs[id].kind.for_each_operand(&mut |operand| loads(kernel, operand, found));
    }
    let mut found = Vec::new();
    visit_domain(&kernel.body, domain, &mut |stmt| {
        if let StmtKind::Store { access, .. } = &stmt.kind {
            found.push(access.clone());
        }
        stmt.kind.for_each_expr(&mut |expr| loads(kernel, expr, &mut found));
    });
    found.retain(|access| is_global(kernel, access));
    found
}

fn visit_all(stmts: &[Stmt], f: &mut impl FnMut(&Stmt)) {
    for stmt in stmts {
        f(stmt);
        stmt.kind.bodies().iter().for_each(|body| visit_all(body, f));
    }
}

/// Whether an index is a sum with the coordinate as one of its terms.
fn has_unit_stride(kernel: &ProgramKernel, expr: ExprId, domain: DomainId, axis: u32) -> bool {
    match kernel.exprs[expr].kind {
        ExprKind::Coord { domain: found, axis: along } => found == domain && along == axis,
        ExprKind::Binary { op: BinaryOp::Add, lhs, rhs } => {
            has_unit_stride(kernel, lhs, domain, axis) || has_unit_stride(kernel, rhs, domain, axis)
        }
        ExprKind::Binary { op: BinaryOp::Sub, lhs, .. } | ExprKind::Cast(lhs) => {
            has_unit_stride(kernel, lhs, domain, axis)
        }
        _ => false,
    }
}
