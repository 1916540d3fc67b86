//! Bank conflicts: the wavefronts of shared-memory accesses, by enumeration.
//!
//! # Source
//!
//! CUDA C++ Programming Guide, "Shared Memory" of compute capability 5.x and
//! later: 32 banks of 4 bytes; lanes that read one word share it; an access of
//! a warp takes as many wavefronts as the busiest bank has distinct words. Which lanes
//! of a wide access come together was measured (`groups`).

use crate::exchange::WARP_ITEMS;
use crate::kernel::{ceil_div, eval_index_binary};
use crate::op::UnaryOp;
use crate::program::{
    Access, DomainId, ExprId, ExprKind, Literal, LoopRange, MAX_ACCESS_BYTES, ProgramKernel, Stmt,
    StmtKind, Target, TileId,
};

/// Banks of shared memory.
pub const BANKS: u64 = 32;
/// Bytes of a bank's word.
pub const WORD_BYTES: u64 = 4;
/// Iterations counted of a loop whose number is not constant.
const UNKNOWN_TRIPS: u64 = 8;

/// What one warp's request to shared memory takes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Wavefronts {
    /// Distinct words of the busiest bank.
    pub taken: u32,
    /// What as many distinct words take that are spread evenly over the banks.
    pub ideal: u32,
}

/// Wavefronts of one warp's request for these byte addresses, one for each lane that makes
/// it, by number.
pub fn wavefronts(addresses: &[Option<u64>], size_bytes: u32) -> u32 {
    wavefronts_of(addresses, size_bytes).taken
}

/// The same, beside what it takes without conflicts.
///
/// # Examples
///
/// ```
/// use tile_ir::analyze::banks::wavefronts_of;
/// // A column of a tile whose rows are 32 words long, and 33.
/// let column = |row: u64| (0..32).map(|lane| Some(4 * row * lane)).collect::<Vec<_>>();
/// assert_eq!((wavefronts_of(&column(32), 4).taken, wavefronts_of(&column(32), 4).ideal), (32, 1));
/// assert_eq!(wavefronts_of(&column(33), 4).taken, 1);
///
/// // Vectors of 16 bytes, each read by four lanes in a row, and by every eighth lane.
/// let (rows, columns) = ((0..32).map(|lane| Some(lane / 4 * 16)), (0..32).map(|lane| Some(lane % 8 * 16)));
/// assert_eq!(wavefronts_of(&rows.collect::<Vec<_>>(), 16).taken, 2);
/// assert_eq!(wavefronts_of(&columns.collect::<Vec<_>>(), 16).taken, 4);
/// ```
pub fn wavefronts_of(addresses: &[Option<u64>], size_bytes: u32) -> Wavefronts {
    let taken = groups(addresses, size_bytes).into_iter().map(|group| {
        let mut banks = [0u32; BANKS as usize];
        for word in words(group, size_bytes) {
            banks[(word % BANKS) as usize] += 1;
        }
        banks.into_iter().max().unwrap_or(0)
    });
    let ideal = (words(addresses, size_bytes).len() as u64).div_ceil(BANKS) as u32;
    Wavefronts { taken: taken.sum(), ideal }
}

/// The distinct words of some lanes.
fn words(addresses: &[Option<u64>], size_bytes: u32) -> Vec<u64> {
    let last_byte = u64::from(size_bytes.max(1)) - 1;
    let words_of = |address: u64| address / WORD_BYTES..=(address + last_byte) / WORD_BYTES;
    let mut words: Vec<u64> = addresses.iter().flatten().copied().flat_map(words_of).collect();
    words.sort_unstable();
    words.dedup();
    words
}

/// The lanes whose words come together: all of a warp, its halves where each lane asks for
/// 8 bytes, its quarters where for 16. Two such groups are one where each of their lanes
/// asks for the same as its neighbour, or each for the same as the lane after that.
///
/// Measured on an H200 with Nsight Compute: products whose operands are read by vectors of
/// 16 bytes take 2 wavefronts for one that neighbouring lanes share, and 4 for one that
/// every fourth or eighth lane shares.
fn groups(addresses: &[Option<u64>], size_bytes: u32) -> Vec<&[Option<u64>]> {
    let lanes = match size_bytes {
        0..=4 => return vec![addresses],
        5..=8 => 16,
        _ => 8,
    };
    let is_shared = |pair: &[Option<u64>]| {
        [1, 2].into_iter().any(|distance: usize| {
            (0..pair.len()).all(|lane| {
                let other = pair.get(lane ^ distance).copied().flatten();
                pair[lane].is_none() || other.is_none() || pair[lane] == other
            })
        })
    };
    let split = |pair: &'_ [Option<u64>]| !is_shared(pair);
    addresses
        .chunks(2 * lanes)
        .flat_map(|pair| pair.chunks(if split(pair) { lanes } else { 2 * lanes }))
        .collect()
}

/// Wavefronts of all accesses to a tile by the first warp of each domain, one
/// iteration of an unbounded loop counted as [`UNKNOWN_TRIPS`] of them.
///
/// Variables other than a domain's coordinates count as 0, as they are the same
/// for the whole warp. Consecutive items of a thread that lie next to each other
/// in the tile, and aligned, count as one access of up to 16 bytes.
pub fn tile_wavefronts(kernel: &ProgramKernel, tile: TileId) -> u64 {
    let mut total = 0;
    visit(kernel, &kernel.body, None, 1, &mut |access, domain, trips| {
        if access.target == Target::Tile(tile) {
            total += trips * access_wavefronts(kernel, access, tile, domain);
        }
    });
    total
}

fn access_wavefronts(
    kernel: &ProgramKernel,
    access: &Access,
    tile: TileId,
    domain: DomainId,
) -> u64 {
    let info = &kernel.tiles[tile];
    let items = &kernel.domains[domain];
    let offset = |thread: u32, register: u32| -> Option<u32> {
        let coords = items.layout.coords(items.axes.len(), thread, register)?;
        let indices = access.indices.iter().map(|&index| {
            let value = value_at(kernel, index, domain, &coords)?;
            u32::try_from(value).ok()
        });
        Some(info.layout.offset(&indices.collect::<Option<Vec<u32>>>()?))
    };
    let size_bytes = info.dtype.size_bytes();
    // Registers that the access tells apart, and how many of them are one access.
    let mut registers = 1;
    let mut width = 1;
    let mut number = 1;
    for digit in &items.layout.registers {
        let step = offset(0, number).zip(offset(0, 0)).map(|(next, first)| next.abs_diff(first));
        if step != Some(0) {
            registers *= u64::from(digit.size);
        }
        let bytes = digit.size * size_bytes;
        let aligned = |thread| offset(thread, 0).is_none_or(|at| at.is_multiple_of(digit.size));
        // Other variables are 0 here, so every row must begin at a multiple too.
        let rows_aligned = || {
            let mut strides = info.layout.strides.iter();
            strides.all(|stride| *stride == 1 || stride.is_multiple_of(digit.size))
        };
        let whole = info.layout.swizzle.is_none_or(|swizzle| digit.size <= 1 << swizzle.shift);
        let fits = step == Some(1) && whole && MAX_ACCESS_BYTES.is_multiple_of(bytes);
        if fits && rows_aligned() && (0..WARP_ITEMS).all(aligned) {
            width = digit.size;
        }
        number *= digit.size;
    }
    let address = |thread| Some(u64::from(offset(thread, 0)?) * u64::from(size_bytes));
    let addresses: Vec<Option<u64>> = (0..WARP_ITEMS).map(address).collect();
    u64::from(wavefronts(&addresses, size_bytes * width)) * (registers / u64::from(width))
}

/// The value of an index at an item, other variables at 0.
fn value_at(
    kernel: &ProgramKernel,
    expr: ExprId,
    domain: DomainId,
    coords: &[u32],
) -> Option<i128> {
    let eval = |id| value_at(kernel, id, domain, coords);
    match &kernel.exprs[expr].kind {
        ExprKind::Literal(Literal::Int(value)) => Some(*value),
        ExprKind::Coord { domain: found, axis } if *found == domain => {
            coords.get(*axis as usize).map(|&coord| i128::from(coord))
        }
        ExprKind::Var(_) | ExprKind::Arg(_) | ExprKind::Fragment(_) | ExprKind::Coord { .. } => {
            Some(0)
        }
        ExprKind::Cast(operand) => eval(*operand),
        ExprKind::Unary { op: UnaryOp::Neg, operand } => eval(*operand)?.checked_neg(),
        ExprKind::Binary { op, lhs, rhs } => eval_index_binary(*op, eval(*lhs)?, eval(*rhs)?),
        ExprKind::Literal(_)
        | ExprKind::Load(_)
        | ExprKind::Unary { .. }
        | ExprKind::Fma { .. }
        | ExprKind::Compare { .. }
        | ExprKind::Logic { .. }
        | ExprKind::Select { .. }
        | ExprKind::Math { .. }
        | ExprKind::CeilDiv { .. }
        | ExprKind::InBounds { .. } => None,
    }
}

fn visit(
    kernel: &ProgramKernel,
    stmts: &[Stmt],
    domain: Option<DomainId>,
    trips: u64,
    f: &mut impl FnMut(&Access, DomainId, u64),
) {
    for stmt in stmts {
        let domain = match &stmt.kind {
            StmtKind::Items { domain, .. } => Some(*domain),
            _ => domain,
        };
        if let Some(domain) = domain {
            match &stmt.kind {
                StmtKind::Store { access, .. } | StmtKind::Atomic { access, .. } => {
                    f(access, domain, trips)
                }
                StmtKind::Copy { dst, src, .. } => {
                    f(dst, domain, trips);
                    f(src, domain, trips);
                }
                _ => {}
            }
            let f = &mut |access: &Access, domain| f(access, domain, trips);
            stmt.kind.for_each_expr(&mut |expr| visit_expr(kernel, expr, domain, f));
        }
        let inside = match &stmt.kind {
            StmtKind::For { range, .. } => trips.saturating_mul(trips_of(kernel, range)),
            StmtKind::While { .. } => trips.saturating_mul(UNKNOWN_TRIPS),
            _ => trips,
        };
        for body in stmt.kind.bodies() {
            visit(kernel, body, domain, inside, f);
        }
    }
}

/// Iterations of a loop, as far as they are constant.
fn trips_of(kernel: &ProgramKernel, range: &LoopRange) -> u64 {
    let value = |expr: ExprId| kernel.constant(expr);
    let trips = match *range {
        LoopRange::Between { start, end, step, .. } => value(start)
            .zip(value(end))
            .zip(value(step).filter(|step| *step > 0))
            .map(|((start, end), step)| ceil_div(end - start, step)),
        LoopRange::Halving(n) | LoopRange::Doubling(n) => {
            value(n).filter(|n| *n > 0).map(|n| i128::from(n.ilog2()))
        }
    };
    trips.map_or(UNKNOWN_TRIPS, |trips| u64::try_from(trips).unwrap_or(0))
}

fn visit_expr(
    kernel: &ProgramKernel,
    expr: ExprId,
    domain: DomainId,
    f: &mut impl FnMut(&Access, DomainId),
) {
    if let ExprKind::Load(access) = &kernel.exprs[expr].kind {
        f(access, domain);
    }
    kernel.exprs[expr].kind.for_each_operand(&mut |operand| visit_expr(kernel, operand, domain, f));
}
