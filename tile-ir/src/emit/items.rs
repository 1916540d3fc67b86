//! Loops over items in C++: one per register digit, and the item's coordinates.

use std::collections::BTreeSet;

use super::Writer;
use super::expr::Strength;
use super::vector::{Group, Lane};
use crate::arena::EntityId as _;
use crate::program::{
    Domain, DomainId, ExprId, ExprKind, FragmentId, ProgramKernel, Stmt, StmtKind, VarId,
};

impl Writer<'_> {
    /// A loop for each register digit, the most significant outermost; inside,
    /// the coordinates that the body reads.
    pub(super) fn items(&mut self, id: DomainId, body: &[Stmt]) {
        let kernel = self.kernel;
        let domain = &kernel.domains[id];
        let depth = self.depth;
        let group = Group::of(kernel, id, body);
        if id != kernel.block_domain {
            let line = self.describe_items(id, domain);
            self.put(&line);
        }
        if domain.layout.n_threads() < kernel.threads {
            self.open(&format!("if (thread < {}) {{", domain.layout.n_threads()));
        }
        for (number, digit) in domain.layout.registers.iter().enumerate().rev() {
            let step = match &group {
                Some(group) if number == 0 => group.width(),
                _ => 1,
            };
            if digit.size > step {
                let name = self.names.digit(id, number).to_owned();
                let next =
                    if step == 1 { format!("++{name}") } else { format!("{name} += {step}") };
                self.put("#pragma unroll");
                self.open(&format!("for (int {name} = 0; {name} < {}; {next}) {{", digit.size));
            }
        }
        let read = coords_read(kernel, id, body);
        let mut inside = Vec::new();
        for (axis, info) in domain.axes.iter().enumerate() {
            let is_partial = domain.layout.reach(axis as u32) > info.extent;
            if !is_partial && !read.contains(&axis) {
                continue;
            }
            if self.depth == depth {
                self.open("{");
            }
            let name = self.names.coord(id, axis).to_owned();
            let value = self.coordinate(id, domain, axis, group.as_ref());
            self.put(&format!("const int {name} = {value};"));
            if is_partial {
                inside.push(format!("{name} < {}", info.extent));
            }
        }
        if !inside.is_empty() {
            self.open(&format!("if ({}) {{", inside.join(" && ")));
        }
        let declares = body.iter().any(|stmt| matches!(stmt.kind, StmtKind::Let { .. }));
        if self.depth == depth && (declares || group.is_some()) {
            self.open("{");
        }
        let outer = self.register.replace(self.register_number(id, domain, group.as_ref()));
        match group {
            Some(group) => self.grouped(group, body),
            None => self.stmts(body),
        }
        self.register = outer;
        while self.depth > depth {
            self.close();
        }
    }

    /// `// (i, k) of 64 x 16, shared out over the block`
    fn describe_items(&self, id: DomainId, domain: &Domain) -> String {
        let names: Vec<&str> =
            (0..domain.axes.len()).map(|axis| self.names.coord(id, axis)).collect();
        let extents: Vec<String> = domain.extents().iter().map(u32::to_string).collect();
        let names = match names.as_slice() {
            [name] => (*name).to_owned(),
            names => format!("({})", names.join(", ")),
        };
        format!("// {names} of {}, shared out over the block", extents.join(" x "))
    }

    /// The present item's coordinate from the thread and the loops' counters.
    fn coordinate(
        &self,
        id: DomainId,
        domain: &Domain,
        axis: usize,
        group: Option<&Group>,
    ) -> String {
        let mut terms = thread_terms(domain, axis);
        for (number, digit) in domain.layout.registers.iter().enumerate() {
            let step = if number == 0 { group.map_or(1, Group::width) } else { 1 };
            if digit.axis as usize == axis && digit.size > step {
                let name = self.names.digit(id, number);
                terms.push(times(name, digit.stride));
            }
        }
        if terms.is_empty() { "0".to_owned() } else { terms.join(" + ") }
    }

    /// The register's number from the loops over its digits.
    fn register_number(&self, id: DomainId, domain: &Domain, group: Option<&Group>) -> String {
        let mut below = 1u32;
        let mut terms = Vec::new();
        for (number, digit) in domain.layout.registers.iter().enumerate() {
            let step = if number == 0 { group.map_or(1, Group::width) } else { 1 };
            if digit.size > step {
                terms.push(times(self.names.digit(id, number), below));
            }
            below *= digit.size;
        }
        terms.reverse();
        terms.join(" + ")
    }

    /// A variable, or this lane's of a group's.
    pub(super) fn var(&self, id: VarId) -> String {
        let name = self.names.var(id);
        match &self.group {
            Some(group) if group.declares(id) => format!("{name}[{}]", group.lane.text()),
            _ => name.to_owned(),
        }
    }

    /// The coordinate of the present item along an axis.
    pub(super) fn coord(&self, domain: DomainId, axis: usize) -> (Strength, String) {
        let name = self.names.coord(domain, axis);
        match &self.group {
            Some(group) if group.runs_along(domain, axis) && group.lane != Lane::At(0) => {
                (Strength::Sum, format!("{name} + {}", group.lane.text()))
            }
            _ => (Strength::Atom, name.to_owned()),
        }
    }

    /// The present item's register of a fragment.
    pub(super) fn fragment_place(&self, id: FragmentId) -> String {
        let domain = self.kernel.fragments[id].domain;
        let name = self.names.fragment(id);
        if self.kernel.domains[domain].layout.n_registers() <= 1 {
            return name.to_owned();
        }
        let register = self.register.as_deref().unwrap_or_default();
        let lane = match &self.group {
            Some(group) if group.lane != Lane::At(0) => group.lane.text(),
            _ => String::new(),
        };
        let terms: Vec<&str> =
            [register, &lane].into_iter().filter(|term| !term.is_empty()).collect();
        let number = if terms.is_empty() { "0".to_owned() } else { terms.join(" + ") };
        format!("{name}[{number}]")
    }
}

/// What the thread's digits add to a coordinate.
fn thread_terms(domain: &Domain, axis: usize) -> Vec<String> {
    let mut terms = Vec::new();
    let mut below = 1u32;
    let last = domain.layout.threads.iter().rposition(|digit| digit.size > 1);
    for (number, digit) in domain.layout.threads.iter().enumerate() {
        if digit.axis as usize == axis && digit.size > 1 {
            let mut text = "thread".to_owned();
            if below > 1 {
                text = format!("{text} / {below}");
            }
            if Some(number) != last {
                text = format!("{text} % {}", digit.size);
            }
            terms.push(times(&text, digit.stride));
        }
        below *= digit.size;
    }
    terms
}

fn times(text: &str, factor: u32) -> String {
    if factor == 1 { text.to_owned() } else { format!("{text} * {factor}") }
}

/// The axes of a domain whose coordinates the statements read.
fn coords_read(kernel: &ProgramKernel, domain: DomainId, body: &[Stmt]) -> BTreeSet<usize> {
    let mut seen = vec![false; kernel.exprs.len()];
    let mut found = BTreeSet::new();
    visit_exprs(body, &mut |expr| {
        let mut open = vec![expr];
        while let Some(id) = open.pop() {
            if std::mem::replace(&mut seen[id.index()], true) {
                continue;
            }
            let kind = &kernel.exprs[id].kind;
            if let ExprKind::Coord { domain: of, axis } = kind
                && *of == domain
            {
                found.insert(*axis as usize);
            }
            kind.for_each_operand(&mut |operand| open.push(operand));
        }
    });
    found
}

fn visit_exprs(stmts: &[Stmt], f: &mut impl FnMut(ExprId)) {
    for stmt in stmts {
        stmt.kind.for_each_expr(f);
        stmt.kind.bodies().iter().for_each(|body| visit_exprs(body, f));
    }
}
