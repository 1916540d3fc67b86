//! Vectorise: accesses of a thread's consecutive items become one.
//!
//! Where the lowest register digit of a domain walks along the unit stride of an
//! array, and the first of each group is aligned, the group's accesses are one
//! access of up to 16 bytes. Alignment is found from facts about the launch:
//! divisors of the dimensions, the digits of the layout, the strides of tiles.
//!
//! Every buffer and tile begins at a multiple of 16 bytes.

use super::divisor::Divisors;
use crate::kernel;
use crate::op::{BinaryOp, UnaryOp};
use crate::program::{
    Access, DomainId, ExprId, ExprKind, Literal, MAX_ACCESS_BYTES, ProgramKernel, Scope, Stmt,
    StmtKind, Target, TileSpace,
};

/// Widens what can be widened, given a divisor of each dimension. Assumes that
/// guards and tile layouts are final; guarantees that a group of accesses is
/// aligned, consecutive, and shares one outcome of its guards.
pub(super) fn vectorise(kernel: &mut ProgramKernel, divisors: &[(kernel::VarId, u32)]) {
    let mut body = std::mem::take(&mut kernel.body);
    let divisors = Divisors::of(&body, divisors);
    widen_in(kernel, &divisors, &mut body);
    kernel.body = body;
}

fn widen_in(kernel: &mut ProgramKernel, divisors: &Divisors<'_>, stmts: &mut [Stmt]) {
    for stmt in stmts {
        if let StmtKind::Items { domain, body } = &mut stmt.kind {
            widen_items(kernel, divisors, *domain, body);
            continue;
        }
        for body in stmt.kind.bodies_mut() {
            widen_in(kernel, divisors, body);
        }
    }
}

/// Widens the accesses of one `Items`, all alike.
fn widen_items(
    kernel: &mut ProgramKernel,
    divisors: &Divisors<'_>,
    domain: DomainId,
    body: &mut [Stmt],
) {
    let Some(digit) = kernel.domains[domain].layout.registers.first().copied() else { return };
    let extent = kernel.domains[domain].axes[digit.axis as usize].extent;
    if digit.stride != 1 || !extent.is_multiple_of(digit.size) {
        return;
    }
    let bytes = |access: &Access| elem_bytes(kernel, access.target);
    let is_common = |cond| step_of(kernel, divisors, cond, domain, digit.axis) == Some(0);
    let sites = sites(kernel, body, &is_common);
    // The largest power of two in the digit, as far as an access reaches.
    let mut width = (1 << digit.size.trailing_zeros()).min(MAX_ACCESS_BYTES);
    while width > 1 {
        let fits = |site: &Site| {
            width * bytes(&site.access) <= MAX_ACCESS_BYTES
                && is_group(kernel, divisors, &site.access, domain, width)
        };
        let fitting: Vec<Site> = sites.iter().filter(|site| fits(site)).cloned().collect();
        if !fitting.is_empty() {
            let width = width as u8;
            fitting.iter().for_each(|site| site.widen(kernel, body, width));
            return;
        }
        width /= 2;
    }
}

/// Whether the accesses of `width` consecutive items can be one.
pub(super) fn is_group(
    kernel: &ProgramKernel,
    divisors: &Divisors<'_>,
    access: &Access,
    domain: DomainId,
    width: u32,
) -> bool {
    // What stands for elements outside is one value for all of them.
    if access.is_guarded() && access.pad.is_some_and(|pad| reads(kernel, pad)) {
        return false;
    }
    let axis = match kernel.domains[domain].layout.registers.first() {
        Some(digit) if digit.stride == 1 && digit.size.is_multiple_of(width) => digit.axis,
        _ => return false,
    };
    let divisible =
        |id: ExprId| divisors.at_group(kernel, id, domain).is_multiple_of(u64::from(width));
    let is_promised = access.aligned_elems.is_multiple_of(width)
        && divisors.of_coord(kernel, domain, axis).is_multiple_of(u64::from(width));
    let divides = |id: ExprId| is_promised || divisible(id);
    let mut along = None;
    for (number, &index) in access.indices.iter().enumerate() {
        match step_of(kernel, divisors, index, domain, axis) {
            Some(0) => {}
            Some(1) if along.is_none() && divides(index) => along = Some(number),
            _ => return false,
        }
    }
    let Some(along) = along else { return false };
    let slot_is_uniform =
        access.slot.is_none_or(|slot| step_of(kernel, divisors, slot, domain, axis) == Some(0));
    slot_is_uniform
        && match access.target {
            Target::Buffer(id) => {
                let buffer = &kernel.buffers[id];
                let is_one = |id: ExprId| {
                    matches!(kernel.exprs[id].kind, ExprKind::Literal(Literal::Int(1)))
                };
                let guard_is_shared = !access.guards[along].upper
                    || (divisible(buffer.extents[along]) && divisible(access.indices[along]));
                let aligned = |number: usize| {
                    let of = |id| divisors.at_group(kernel, id, domain);
                    let offset = of(access.indices[number]).checked_mul(of(buffer.strides[number]));
                    offset.is_some_and(|offset| offset % u64::from(width) == 0)
                };
                is_one(buffer.strides[along])
                    && guard_is_shared
                    && (is_promised || (0..access.indices.len()).all(aligned))
            }
            Target::Tile(id) => {
                let tile = &kernel.tiles[id];
                let guard_is_shared =
                    !access.guards[along].upper || tile.extents[along].is_multiple_of(width);
                let aligned = |number: usize| {
                    let stride = u64::from(tile.layout.strides[number]);
                    let index = divisors.at_group(kernel, access.indices[number], domain);
                    index.checked_mul(stride).is_some_and(|offset| offset % u64::from(width) == 0)
                };
                // Each item has an array of its own.
                tile.space == TileSpace::Shared
                    && tile.layout.strides[along] == 1
                    && tile.layout.swizzle.is_none_or(|swizzle| width <= 1 << swizzle.shift)
                    && tile.layout.size_elems.is_multiple_of(width)
                    && guard_is_shared
                    && (is_promised || (0..access.indices.len()).all(aligned))
            }
        }
}

/// By how much an index grows from one item of a group to the next; `None` where
/// that is not a constant.
pub(super) fn step_of(
    kernel: &ProgramKernel,
    divisors: &Divisors<'_>,
    id: ExprId,
    domain: DomainId,
    axis: u32,
) -> Option<i128> {
    let of = |id| step_of(kernel, divisors, id, domain, axis);
    let constant = |id: ExprId| kernel.constant(id);
    match &kernel.exprs[id].kind {
        ExprKind::Literal(_) | ExprKind::Arg(_) => Some(0),
        ExprKind::Coord { domain: found, axis: along } if *found == domain => {
            Some(i128::from(*along == axis))
        }
        ExprKind::Var(var) => match (kernel.vars[*var].scope, divisors.definition(*var)) {
            (Scope::Block, _) => Some(0),
            (_, Some(value)) => of(value),
            (_, None) => None,
        },
        ExprKind::Cast(operand) => of(*operand),
        ExprKind::Unary { op: UnaryOp::Neg, operand } => of(*operand).map(|step| -step),
        ExprKind::Binary { op: BinaryOp::Add, lhs, rhs } => of(*lhs)?.checked_add(of(*rhs)?),
        ExprKind::Binary { op: BinaryOp::Sub, lhs, rhs } => of(*lhs)?.checked_sub(of(*rhs)?),
        ExprKind::Binary { op: BinaryOp::Mul, lhs, rhs } => match (of(*lhs)?, of(*rhs)?) {
            (0, 0) => Some(0),
            (step, 0) => step.checked_mul(constant(*rhs)?),
            (0, step) => step.checked_mul(constant(*lhs)?),
            _ => None,
        },
        ExprKind::Binary { .. }
        | ExprKind::CeilDiv { .. }
        | ExprKind::Unary { .. }
        | ExprKind::Compare { .. }
        | ExprKind::Logic { .. }
        | ExprKind::InBounds { .. } => {
            let mut is_same = true;
            kernel.exprs[id]
                .kind
                .for_each_operand(&mut |operand| is_same &= of(operand) == Some(0));
            is_same.then_some(0)
        }
        ExprKind::Coord { .. }
        | ExprKind::Fragment(_)
        | ExprKind::Load(_)
        | ExprKind::Fma { .. }
        | ExprKind::Select { .. }
        | ExprKind::Math { .. } => None,
    }
}

/// Bytes of one element of an array.
pub(super) fn elem_bytes(kernel: &ProgramKernel, target: Target) -> u32 {
    kernel.element_type(target).size_bytes()
}

/// An access that all items of a group make.
#[derive(Clone)]
struct Site {
    place: SitePlace,
    access: Access,
}

#[derive(Clone, Copy)]
enum SitePlace {
    /// A load expression.
    Load(ExprId),
    /// What the statement of this number writes, counted as [`statement`] does.
    Written(usize),
    /// What the copy of this number reads.
    CopySource(usize),
}

impl Site {
    fn widen(&self, kernel: &mut ProgramKernel, body: &mut [Stmt], width: u8) {
        match self.place {
            SitePlace::Load(id) => {
                if let ExprKind::Load(access) = &mut kernel.exprs[id].kind {
                    access.width = width;
                }
            }
            SitePlace::Written(number) => {
                if let Ok(stmt) = statement(body, number)
                    && let Some(access) = stmt.kind.written_accesses_mut()
                {
                    access.width = width;
                }
            }
            SitePlace::CopySource(number) => {
                if let Ok(stmt) = statement(body, number)
                    && let StmtKind::Copy { src, .. } = &mut stmt.kind
                {
                    src.width = width;
                }
            }
        }
    }
}

/// The statement of this number, those in arms counted where they stand; how many
/// more there would have to be where there is none.
fn statement(body: &mut [Stmt], mut number: usize) -> Result<&mut Stmt, usize> {
    for stmt in body {
        if number == 0 {
            return Ok(stmt);
        }
        number -= 1;
        for inner in stmt.kind.bodies_mut() {
            match statement(inner, number) {
                Ok(found) => return Ok(found),
                Err(rest) => number = rest,
            }
        }
    }
    Err(number)
}

/// The accesses that every item of a group makes, or none: not those in branches
/// on which the items of a group do not agree (`is_common`), nor those in loops.
///
/// The statements of a group run one after the other, each for the whole group:
/// its reads, its items, its write. Between barriers no item may depend on
/// another, and of one item the order stays.
fn sites(kernel: &ProgramKernel, body: &[Stmt], is_common: &dyn Fn(ExprId) -> bool) -> Vec<Site> {
    let mut sites = Sites { kernel, is_common, number: 0, found: Vec::new() };
    sites.list(body, true);
    sites.found
}

struct Sites<'a> {
    kernel: &'a ProgramKernel,
    is_common: &'a dyn Fn(ExprId) -> bool,
    /// Of the next statement.
    number: usize,
    found: Vec<Site>,
}

impl Sites<'_> {
    /// Those of a list, if `counts`; its statements are numbered in any case.
    fn list(&mut self, body: &[Stmt], counts: bool) {
        for stmt in body {
            if counts {
                self.stmt(stmt);
            }
            self.number += 1;
            let common = match &stmt.kind {
                StmtKind::If { cond, .. } => counts && (self.is_common)(*cond),
                _ => false,
            };
            for inner in stmt.kind.bodies() {
                self.list(inner, common);
            }
        }
    }

    fn stmt(&mut self, stmt: &Stmt) {
        let (kernel, number) = (self.kernel, self.number);
        let mut loads = Vec::new();
        match &stmt.kind {
            StmtKind::Let { value: Some(value), .. }
            | StmtKind::Assign { value, .. }
            | StmtKind::SetFragment { value, .. } => {
                loads_always_made(kernel, *value, &mut loads);
            }
            StmtKind::Store { access, value } => {
                loads_always_made(kernel, *value, &mut loads);
                let place = SitePlace::Written(number);
                self.found.push(Site { place, access: access.clone() });
            }
            // The update is each item's own; what it needs is read before.
            StmtKind::Atomic { access, expected, value, .. } => {
                let operands = access.indices.iter().chain(expected).chain([value]);
                operands.for_each(|&operand| loads_always_made(kernel, operand, &mut loads));
            }
            // The width of both sides is that of the instruction.
            StmtKind::Copy { token: Some(_), .. } => {}
            StmtKind::Copy { dst, src, token: None } => {
                let [from, to] = [SitePlace::CopySource(number), SitePlace::Written(number)];
                self.found.push(Site { place: from, access: src.clone() });
                self.found.push(Site { place: to, access: dst.clone() });
            }
            StmtKind::Let { value: None, .. }
            | StmtKind::Commit(_)
            | StmtKind::Wait { .. }
            | StmtKind::Assume(_)
            | StmtKind::Items { .. }
            | StmtKind::For { .. }
            | StmtKind::While { .. }
            | StmtKind::If { .. }
            | StmtKind::Barrier(_)
            | StmtKind::Shuffle { .. }
            | StmtKind::Ballot { .. }
            | StmtKind::WarpBarrier => {}
        }
        for id in loads {
            if let ExprKind::Load(access) = &kernel.exprs[id].kind {
                self.found.push(Site { place: SitePlace::Load(id), access: access.clone() });
            }
        }
    }
}

/// The loads that an expression makes whatever its values.
fn loads_always_made(kernel: &ProgramKernel, id: ExprId, loads: &mut Vec<ExprId>) {
    let kind = &kernel.exprs[id].kind;
    match kind {
        ExprKind::Load(_) => loads.push(id),
        ExprKind::Select { cond, .. } => loads_always_made(kernel, *cond, loads),
        ExprKind::Logic { lhs, .. } => loads_always_made(kernel, *lhs, loads),
        ExprKind::Literal(_)
        | ExprKind::Var(_)
        | ExprKind::Arg(_)
        | ExprKind::Coord { .. }
        | ExprKind::Fragment(_)
        | ExprKind::Unary { .. }
        | ExprKind::Binary { .. }
        | ExprKind::Fma { .. }
        | ExprKind::Compare { .. }
        | ExprKind::Cast(_)
        | ExprKind::Math { .. }
        | ExprKind::CeilDiv { .. }
        | ExprKind::InBounds { .. } => {
            kind.for_each_operand(&mut |operand| loads_always_made(kernel, operand, loads));
        }
    }
}

/// Whether an expression reads memory.
fn reads(kernel: &ProgramKernel, expr: ExprId) -> bool {
    let kind = &kernel.exprs[expr].kind;
    let mut found = matches!(kind, ExprKind::Load(_));
    kind.for_each_operand(&mut |operand| found |= reads(kernel, operand));
    found
}
