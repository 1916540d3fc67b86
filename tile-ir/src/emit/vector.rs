//! Vector accesses in C++.
//!
//! Items with vector accesses run in groups of as many registers as the widest
//! access moves elements: statement by statement for the whole group, since
//! between barriers the items may run in any order. A statement's vector reads
//! come first, whole; then its items one by one; then its vector write, whole:
//!
//! ```text
//! tk_vector<float, 4> tk_b_x4 = tk_at<4>(b + offset);
//! for (int tk_lane = 0; tk_lane < 4; ++tk_lane) {
//!     acc[tk_lane] = __fmaf_rn(x, tk_b_x4.lane[tk_lane], acc[tk_lane]);
//! }
//! ```
//!
//! A variable of an item is one per lane.

use std::collections::{BTreeMap, BTreeSet};

use super::Writer;
use super::types::type_name;
use crate::program::{
    Access, DomainId, ExprId, ExprKind, ProgramKernel, Stmt, StmtKind, VarId, assigned_vars,
};

/// Which item of a group is written.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Lane {
    /// The one of this number.
    At(u32),
    /// The one of the loop over lanes.
    Each,
}

impl Lane {
    pub(super) fn text(self) -> String {
        match self {
            Self::At(lane) => lane.to_string(),
            Self::Each => "tk_lane".to_owned(),
        }
    }
}

/// The registers that are written together.
pub(super) struct Group {
    domain: DomainId,
    axis: usize,
    width: u32,
    /// Variables that the group's statements declare, one for each item.
    declared: BTreeSet<VarId>,
    /// The vector that each vector read of the present statement has filled: its
    /// name and width.
    vectors: BTreeMap<ExprId, (String, u32)>,
    /// The names of all its vectors.
    names: BTreeSet<String>,
    pub(super) lane: Lane,
}

impl Group {
    /// The group of a body with vector accesses, along the lowest register digit.
    pub(super) fn of(kernel: &ProgramKernel, domain: DomainId, body: &[Stmt]) -> Option<Self> {
        let width = widest(kernel, body);
        let mut declared = BTreeSet::new();
        declared_by_groups(kernel, body, &mut declared);
        let digit = kernel.domains[domain].layout.registers.first()?;
        let axis = digit.axis as usize;
        let assigned = assigned_vars(body);
        for stmt in body {
            if let StmtKind::Let { var, value: Some(value) } = stmt.kind
                && !assigned.contains(&var)
                && is_shared(kernel, value, (domain, digit.axis), &declared)
            {
                declared.remove(&var);
            }
        }
        let lane = Lane::At(0);
        let (vectors, names) = Default::default();
        (width > 1).then_some(Self { domain, axis, width, declared, vectors, names, lane })
    }

    pub(super) fn width(&self) -> u32 {
        self.width
    }

    pub(super) fn declares(&self, var: VarId) -> bool {
        self.declared.contains(&var)
    }

    /// The axis along which its items lie.
    pub(super) fn axis(&self) -> u32 {
        self.axis as u32
    }

    /// Whether the coordinates of its items differ along an axis.
    pub(super) fn runs_along(&self, domain: DomainId, axis: usize) -> bool {
        self.domain == domain && self.axis == axis
    }
}

/// Elements of the widest access.
fn widest(kernel: &ProgramKernel, body: &[Stmt]) -> u32 {
    let of = |stmt: &Stmt| {
        let reads = reads(kernel, stmt).into_iter().map(|(_, access)| access);
        let own = reads.chain(written(stmt)).map(|access| u32::from(access.width)).max();
        let inside = stmt.kind.bodies().into_iter().map(|body| widest(kernel, body)).max();
        own.max(inside).unwrap_or(1)
    };
    body.iter().map(of).max().unwrap_or(1)
}

/// The variables of statements that are written for whole groups.
fn declared_by_groups(kernel: &ProgramKernel, body: &[Stmt], declared: &mut BTreeSet<VarId>) {
    for stmt in body {
        declared.extend(stmt.kind.declared());
        if is_common(kernel, stmt) {
            for body in stmt.kind.bodies() {
                declared_by_groups(kernel, body, declared);
            }
        }
    }
}

/// Whether a value is plainly the same for all items of a group along an axis,
/// each of which has a variable of its own of those in `declared`.
fn is_shared(
    kernel: &ProgramKernel,
    id: ExprId,
    along: (DomainId, u32),
    declared: &BTreeSet<VarId>,
) -> bool {
    let kind = &kernel.exprs[id].kind;
    let mut shared = match kind {
        ExprKind::Coord { domain, axis } => (*domain, *axis) != along,
        ExprKind::Var(var) => !declared.contains(var),
        kind => !matches!(kind, ExprKind::Load(_) | ExprKind::Fragment(_)),
    };
    kind.for_each_operand(&mut |operand| {
        shared = shared && is_shared(kernel, operand, along, declared);
    });
    shared
}

/// Whether a conditional is one on which the items of a group agree: where there
/// are vector accesses in it, they do.
fn is_common(kernel: &ProgramKernel, stmt: &Stmt) -> bool {
    let is_wide = |body: &[Stmt]| widest(kernel, body) > 1;
    matches!(stmt.kind, StmtKind::If { .. }) && stmt.kind.bodies().into_iter().any(is_wide)
}

/// The accesses that a statement reads through, nested statements' not: by
/// expression, and a copy's source without one.
fn reads<'k>(kernel: &'k ProgramKernel, stmt: &'k Stmt) -> Vec<(Option<ExprId>, &'k Access)> {
    let mut found = Vec::new();
    let mut seen = BTreeSet::new();
    let mut open = Vec::new();
    stmt.kind.for_each_expr(&mut |expr| open.push(expr));
    open.reverse();
    while let Some(id) = open.pop() {
        if !seen.insert(id) {
            continue;
        }
        if let ExprKind::Load(access) = &kernel.exprs[id].kind {
            found.push((Some(id), access));
        }
        let inner = open.len();
        kernel.exprs[id].kind.for_each_operand(&mut |operand| open.push(operand));
        open[inner..].reverse();
    }
    if let StmtKind::Copy { src, .. } = &stmt.kind {
        found.push((None, src));
    }
    found
}

fn written(stmt: &Stmt) -> Option<&Access> {
    match &stmt.kind {
        StmtKind::Store { access, .. } => Some(access),
        StmtKind::Copy { dst, .. } => Some(dst),
        StmtKind::Let { .. }
        | StmtKind::Assign { .. }
        | StmtKind::SetFragment { .. }
        | StmtKind::Atomic { .. }
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
        | StmtKind::WarpBarrier => None,
    }
}

impl Writer<'_> {
    /// The statements of a group of items.
    pub(super) fn grouped(&mut self, group: Group, body: &[Stmt]) {
        self.group = Some(group);
        self.group_list(body);
        self.group = None;
    }

    fn group_list(&mut self, body: &[Stmt]) {
        for stmt in body {
            self.mark_line(stmt);
            self.group_stmt(stmt);
        }
    }

    fn group_stmt(&mut self, stmt: &Stmt) {
        let kernel = self.kernel;
        if let StmtKind::Copy { dst, src, token: Some(_) } = &stmt.kind {
            return self.copy_async(dst, src, None);
        }
        if let StmtKind::If { cond, then, otherwise } = &stmt.kind
            && is_common(kernel, stmt)
        {
            return self.conditional(*cond, then, otherwise, Self::group_list);
        }
        let mut vectors = BTreeMap::new();
        let mut copied = None;
        for (expr, access) in reads(kernel, stmt) {
            if access.width > 1 {
                let name = self.read_vector(access);
                let width = u32::from(access.width);
                match expr {
                    Some(expr) => drop(vectors.insert(expr, (name, width))),
                    None => copied = Some((name, width)),
                }
            }
        }
        if let Some(group) = &mut self.group {
            group.vectors = vectors;
        }
        match (&stmt.kind, written(stmt)) {
            (StmtKind::Let { var, .. }, _) if !self.in_group(*var) => self.stmt(stmt),
            (StmtKind::Let { var, value }, _) => {
                let ty = type_name(kernel.vars[*var].ty.storage());
                let (name, width) = (self.names.var(*var), self.group_width());
                let line = format!("{ty} {name}[{width}];");
                self.put(&line);
                if let Some(value) = *value {
                    self.each_lane(|writer| {
                        let line = format!("{} = {};", writer.var(*var), writer.whole(value));
                        writer.put(&line);
                    });
                }
            }
            (StmtKind::Atomic { access, old: Some(old), .. }, _) => {
                let ty = type_name(kernel.vars[*old].ty.storage());
                let (name, width) = (self.names.var(*old), self.group_width());
                let line = format!("{ty} {name}[{width}];");
                self.put(&line);
                self.each_lane(|writer| {
                    let value = writer.old_value(access, &stmt.kind);
                    let line = format!("{} = {value};", writer.var(*old));
                    writer.put(&line);
                });
            }
            (kind, Some(access)) if access.width > 1 || copied.is_some() => {
                self.write_elements(kind, access, copied);
            }
            _ => self.each_lane(|writer| writer.stmt(stmt)),
        }
    }

    /// Whether each item of the group has a variable of its own of this one.
    fn in_group(&self, var: VarId) -> bool {
        self.group.as_ref().is_some_and(|group| group.declares(var))
    }

    /// Stores or copies, where one side at least is a vector.
    fn write_elements(&mut self, kind: &StmtKind, access: &Access, copied: Option<(String, u32)>) {
        let width = u32::from(access.width);
        // A copy of whole vectors needs no lanes.
        if let Some((from, from_width)) = &copied
            && *from_width == width
        {
            return self.write_vector(access, from);
        }
        let value = |writer: &Self| match (kind, &copied) {
            (_, Some((name, width))) => writer.lane_of(name, *width),
            (StmtKind::Store { value, .. }, None) => writer.whole(*value),
            (StmtKind::Copy { src, .. }, None) => writer.loaded(src).1,
            (_, None) => String::new(),
        };
        if width == 1 {
            return self.each_lane(|writer| {
                let store = writer.store_of(access, &value(writer));
                writer.put_guarded(access, &store);
            });
        }
        let name = self.declare_vector(access, None);
        self.each_lane(|writer| {
            let line = format!("{} = {};", writer.lane_of(&name, width), value(writer));
            writer.put(&line);
        });
        self.write_vector(access, &name);
    }

    /// Declares the vectors of an access of the whole group, filled or not.
    fn declare_vector(&mut self, access: &Access, filled: Option<&str>) -> String {
        let (array, width) = (self.array_name(access), u32::from(access.width));
        let base = format!("tk_{array}_x{width}");
        let mut name = base.clone();
        let mut number = 2;
        let taken = self.group.as_mut().map(|group| &mut group.names);
        if let Some(taken) = taken {
            while !taken.insert(name.clone()) {
                name = format!("{base}_{number}");
                number += 1;
            }
        }
        let ty = type_name(self.kernel.element_type(access.target));
        let parts = match self.group_width() / width {
            1 => String::new(),
            parts => format!("[{parts}]"),
        };
        let line = match filled {
            Some(value) => format!("const tk_vector<{ty}, {width}> {name} = {value};"),
            None => format!("tk_vector<{ty}, {width}> {name}{parts};"),
        };
        self.put(&line);
        name
    }

    /// Reads the vectors of an access for the whole group.
    fn read_vector(&mut self, access: &Access) -> String {
        let width = u32::from(access.width);
        if self.group_width() == width {
            let value = self.at_lane(0, |writer| writer.vector_value(access));
            return self.declare_vector(access, Some(&value));
        }
        let name = self.declare_vector(access, None);
        for part in 0..self.group_width() / width {
            let value = self.at_lane(part * width, |writer| writer.vector_value(access));
            self.put(&format!("{name}[{part}] = {value};"));
        }
        name
    }

    /// `tk_at<4>(a + offset)`, or the pad in all lanes.
    fn vector_value(&self, access: &Access) -> String {
        let place = Self::value_at(access, self.vector_place(access));
        match (self.guard(access), access.pad) {
            (Some((_, guard)), Some(pad)) => {
                let (ty, pad) =
                    (type_name(self.kernel.element_type(access.target)), self.whole(pad));
                format!("{guard} ? {place} : tk_fill<{ty}, {}>({pad})", access.width)
            }
            _ => place,
        }
    }

    /// Begins an asynchronous copy from global to shared memory, where `cond` holds
    /// if there is one. Outside its guards the source reads as zero bits.
    pub(super) fn copy_async(&mut self, dst: &Access, src: &Access, cond: Option<&str>) {
        let bytes = u32::from(src.width) * self.kernel.element_type(src.target).size_bytes();
        let pointer = |access: &Access| format!("{} + {}", self.array(access), self.offset(access));
        let (to, from) = (pointer(dst), pointer(src));
        let valid = self.guard(src).map_or_else(|| "true".to_owned(), |(_, guard)| guard);
        let line = match cond {
            None => format!("tk_copy_async<{bytes}>({to}, {from}, {valid});"),
            Some(cond) => format!("tk_copy_async_if<{bytes}>({cond}, {to}, {from}, {valid});"),
        };
        self.put_guarded(dst, &line);
    }

    fn vector_place(&self, access: &Access) -> String {
        let (array, offset) = (self.array(access), self.offset(access));
        let pointer = match offset.as_str() {
            "0" => array,
            offset => format!("{array} + {offset}"),
        };
        format!("tk_at<{}>({pointer})", access.width)
    }

    /// Writes the vectors of an access for the whole group.
    fn write_vector(&mut self, access: &Access, name: &str) {
        let width = u32::from(access.width);
        let parts = self.group_width() / width;
        for part in 0..parts {
            let value = if parts == 1 { name.to_owned() } else { format!("{name}[{part}]") };
            if let Some(group) = &mut self.group {
                group.lane = Lane::At(part * width);
            }
            let line = Self::assignment(access, &self.vector_place(access), &value);
            self.put_guarded(access, &line);
        }
        if let Some(group) = &mut self.group {
            group.lane = Lane::At(0);
        }
    }

    /// The present lane's value of a vector read, `None` of any other load.
    pub(super) fn vector_lane(&self, load: ExprId) -> Option<String> {
        let (name, width) = self.group.as_ref()?.vectors.get(&load)?;
        Some(self.lane_of(name, *width))
    }

    /// The present lane's element of a vector.
    fn lane_of(&self, name: &str, width: u32) -> String {
        match &self.group {
            Some(group) if group.width > width => match group.lane {
                Lane::At(lane) => format!("{name}[{}].lane[{}]", lane / width, lane % width),
                Lane::Each => format!("{name}[tk_lane / {width}].lane[tk_lane % {width}]"),
            },
            Some(group) => format!("{name}.lane[{}]", group.lane.text()),
            None => name.to_owned(),
        }
    }

    fn each_lane(&mut self, write: impl FnOnce(&mut Self)) {
        let width = self.group_width();
        self.put("#pragma unroll");
        self.open(&format!("for (int tk_lane = 0; tk_lane < {width}; ++tk_lane) {{"));
        if let Some(group) = &mut self.group {
            group.lane = Lane::Each;
        }
        write(self);
        if let Some(group) = &mut self.group {
            group.lane = Lane::At(0);
        }
        self.close();
    }

    fn at_lane(&mut self, lane: u32, text: impl FnOnce(&Self) -> String) -> String {
        if let Some(group) = &mut self.group {
            group.lane = Lane::At(lane);
        }
        let text = text(self);
        if let Some(group) = &mut self.group {
            group.lane = Lane::At(0);
        }
        text
    }

    fn group_width(&self) -> u32 {
        self.group.as_ref().map_or(1, Group::width)
    }
}
