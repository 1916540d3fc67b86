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
    Access, DomainId, ExprId, ExprKind, Literal, ProgramKernel, Stmt, StmtKind, Target,
};

/// The widest access of one thread.
const MAX_ACCESS_BYTES: u32 = 16;

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
    let sites = sites(kernel, body);
    let bytes = |access: &Access| elem_bytes(kernel, access.target);
    let mut width = digit.size;
    while width > 1 {
        let fits = |site: &Site| {
            width * bytes(&site.access) <= MAX_ACCESS_BYTES
                && is_group(kernel, divisors, &site.access, domain, width)
        };
        let fitting: Vec<Site> = sites.iter().filter(|site| fits(site)).cloned().collect();
        if digit.size % width == 0 && !fitting.is_empty() {
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
    let axis = match kernel.domains[domain].layout.registers.first() {
        Some(digit) if digit.stride == 1 && digit.size.is_multiple_of(width) => digit.axis,
        _ => return false,
    };
    let divides =
        |id: ExprId| divisors.at_group(kernel, id, domain).is_multiple_of(u64::from(width));
    let mut along = None;
    for (number, &index) in access.indices.iter().enumerate() {
        match step_of(kernel, index, domain, axis) {
            Some(0) => {}
            Some(1) if along.is_none() && divides(index) => along = Some(number),
            _ => return false,
        }
    }
    let Some(along) = along else { return false };
    let slot_is_uniform =
        access.slot.is_none_or(|slot| step_of(kernel, slot, domain, axis) == Some(0));
    slot_is_uniform
        && match access.target {
            Target::Buffer(id) => {
                let buffer = &kernel.buffers[id];
                let is_one = |id: ExprId| {
                    matches!(kernel.exprs[id].kind, ExprKind::Literal(Literal::Int(1)))
                };
                let guard_is_shared = !access.guards[along].upper || divides(buffer.extents[along]);
                let aligned = |number: usize| {
                    let of = |id| divisors.at_group(kernel, id, domain);
                    let offset = of(access.indices[number]).checked_mul(of(buffer.strides[number]));
                    offset.is_some_and(|offset| offset % u64::from(width) == 0)
                };
                is_one(buffer.strides[along])
                    && guard_is_shared
                    && (0..access.indices.len()).all(aligned)
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
                tile.layout.strides[along] == 1
                    && tile.layout.swizzle.is_none()
                    && tile.layout.size_elems.is_multiple_of(width)
                    && guard_is_shared
                    && (0..access.indices.len()).all(aligned)
            }
        }
}

/// By how much an index grows from one item of a group to the next; `None` where
/// that is not a constant, or the index has no value before the items' own code
/// runs.
fn step_of(kernel: &ProgramKernel, id: ExprId, domain: DomainId, axis: u32) -> Option<i128> {
    let of = |id| step_of(kernel, id, domain, axis);
    let constant = |id: ExprId| match kernel.exprs[id].kind {
        ExprKind::Literal(Literal::Int(value)) => Some(value),
        _ => None,
    };
    match &kernel.exprs[id].kind {
        ExprKind::Literal(_) | ExprKind::Arg(_) => Some(0),
        ExprKind::Coord { domain: found, axis: along } if *found == domain => {
            Some(i128::from(*along == axis))
        }
        ExprKind::Var(var) => match kernel.vars[*var].scope {
            crate::program::Scope::Block => Some(0),
            _ => None,
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
        ExprKind::Binary { lhs, rhs, .. } | ExprKind::CeilDiv { n: lhs, d: rhs } => {
            (of(*lhs)? == 0 && of(*rhs)? == 0).then_some(0)
        }
        ExprKind::Coord { .. }
        | ExprKind::Fragment(_)
        | ExprKind::Load(_)
        | ExprKind::Unary { .. }
        | ExprKind::Fma { .. }
        | ExprKind::Compare { .. }
        | ExprKind::Logic { .. }
        | ExprKind::Select { .. }
        | ExprKind::Math { .. }
        | ExprKind::InBounds { .. } => None,
    }
}

/// Bytes of one element of an array.
pub(super) fn elem_bytes(kernel: &ProgramKernel, target: Target) -> u32 {
    match target {
        Target::Buffer(id) => kernel.buffers[id].dtype.size_bytes(),
        Target::Tile(id) => kernel.tiles[id].dtype.size_bytes(),
    }
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
    /// What the statement of this number writes.
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
                if let Some(access) = body[number].kind.written_accesses_mut() {
                    access.width = width;
                }
            }
            SitePlace::CopySource(number) => {
                if let StmtKind::Copy { src, .. } = &mut body[number].kind {
                    src.width = width;
                }
            }
        }
    }
}

/// The accesses that every item makes, and makes before anything of the body
/// that could change their outcome: not in branches and loops, and no load of an
/// array that a statement before it writes.
fn sites(kernel: &ProgramKernel, body: &[Stmt]) -> Vec<Site> {
    let mut found = Vec::new();
    let mut written: Vec<Target> = Vec::new();
    let mut visit = |stmt: &Stmt, number: usize, written: &mut Vec<Target>| {
        let mut loads = Vec::new();
        match &stmt.kind {
            StmtKind::Let { value: Some(value), .. }
            | StmtKind::Assign { value, .. }
            | StmtKind::SetFragment { value, .. }
            | StmtKind::Store { value, .. } => loads_always_made(kernel, *value, &mut loads),
            StmtKind::Copy { src, .. } => {
                if !written.contains(&src.target) {
                    found.push(Site { place: SitePlace::CopySource(number), access: src.clone() });
                }
            }
            StmtKind::Let { value: None, .. }
            | StmtKind::Wait(_)
            | StmtKind::Items { .. }
            | StmtKind::For { .. }
            | StmtKind::While { .. }
            | StmtKind::If { .. }
            | StmtKind::Barrier(_) => {}
        }
        for id in loads {
            if let ExprKind::Load(access) = &kernel.exprs[id].kind
                && !written.contains(&access.target)
            {
                found.push(Site { place: SitePlace::Load(id), access: access.clone() });
            }
        }
        if let StmtKind::Store { access, .. } | StmtKind::Copy { dst: access, .. } = &stmt.kind {
            found.push(Site { place: SitePlace::Written(number), access: access.clone() });
        }
        all_written(std::slice::from_ref(stmt), written);
    };
    for (number, stmt) in body.iter().enumerate() {
        visit(stmt, number, &mut written);
    }
    // A store is put off to the end of its group: nothing after it may touch the
    // array.
    let touched_later = |number: usize, target: Target| {
        body[number + 1..].iter().any(|stmt| touches(kernel, stmt, target))
    };
    found.retain(|site| match site.place {
        SitePlace::Written(number) => !touched_later(number, site.access.target),
        SitePlace::Load(_) | SitePlace::CopySource(_) => true,
    });
    found
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

fn all_written(stmts: &[Stmt], written: &mut Vec<Target>) {
    for stmt in stmts {
        if let StmtKind::Store { access, .. } | StmtKind::Copy { dst: access, .. } = &stmt.kind {
            written.push(access.target);
        }
        for body in stmt.kind.bodies() {
            all_written(body, written);
        }
    }
}

fn touches(kernel: &ProgramKernel, stmt: &Stmt, target: Target) -> bool {
    fn reads(kernel: &ProgramKernel, id: ExprId, target: Target) -> bool {
        let kind = &kernel.exprs[id].kind;
        let mut found = matches!(kind, ExprKind::Load(access) if access.target == target);
        kind.for_each_operand(&mut |operand| found = found || reads(kernel, operand, target));
        found
    }
    let mut written = Vec::new();
    all_written(std::slice::from_ref(stmt), &mut written);
    let mut found = written.contains(&target);
    stmt.kind.for_each_expr(&mut |id| found = found || reads(kernel, id, target));
    if let StmtKind::Copy { src, .. } = &stmt.kind {
        found = found || src.target == target;
    }
    found
        || stmt
            .kind
            .bodies()
            .iter()
            .any(|body| body.iter().any(|stmt| touches(kernel, stmt, target)))
}
