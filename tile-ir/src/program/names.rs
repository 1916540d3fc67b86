//! Names for printed programs: the user's own, told apart where they meet.
//!
//! Two things share a name where no place sees both: the `k` of a `load` and
//! the `k` of a loop after it stay `k`. Where one place sees both, the later is
//! numbered (`k_2`). Names follow from the tables and the order of statements
//! alone, so that the same program is always spelled the same.

use std::collections::BTreeSet;

use super::{ArgId, BufferId, DomainId, FragmentId, ProgramKernel, Stmt, StmtKind, TileId, VarId};
use crate::arena::EntityId as _;

/// The name of every entity of a kernel, by its id's index.
#[derive(Debug)]
pub(crate) struct Names {
    pub(crate) kernel: String,
    pub(crate) buffers: Vec<String>,
    pub(crate) args: Vec<String>,
    pub(crate) tiles: Vec<String>,
    pub(crate) vars: Vec<String>,
    pub(crate) fragments: Vec<String>,
    /// One per axis of each domain.
    pub(crate) coords: Vec<Vec<String>>,
    /// One per register digit of each domain's layout.
    digits: Vec<Vec<String>>,
}

impl Names {
    /// Names a kernel's entities; `spell` makes an identifier of a user's name.
    pub(crate) fn of(kernel: &ProgramKernel, spell: &dyn Fn(&str) -> String) -> Self {
        let name = spell(&kernel.name);
        // Seen everywhere in the kernel.
        let mut global = vec![name.clone()];
        let mut unique = |text: &str| {
            let name = fresh(&spell(text), &[&global]);
            global.push(name.clone());
            name
        };
        let buffers = kernel.buffers.values().map(|info| unique(&info.name)).collect();
        let args = kernel.args.values().map(|info| unique(&info.name)).collect();
        let tiles = kernel.tiles.values().map(|info| unique(&info.name)).collect();
        let fragments = kernel.fragments.values().map(|info| unique(&info.name)).collect();
        let mut vars: Vec<Option<String>> = vec![None; kernel.vars.len()];
        let repeated = declared_more_than_once(&kernel.body);
        for var in kernel.grid.iter().map(|axis| axis.var).chain(repeated) {
            if let (Some(info), Some(name)) = (kernel.vars.get(var), vars.get_mut(var.index())) {
                name.get_or_insert_with(|| unique(&info.name));
            }
        }
        let coords: Vec<Vec<String>> = kernel
            .domains
            .values()
            .map(|domain| {
                let mut own: Vec<String> = Vec::new();
                for axis in &domain.axes {
                    own.push(fresh(&spell(&axis.name), &[&global, &own]));
                }
                own
            })
            .collect();
        let digits: Vec<Vec<String>> = kernel
            .domains
            .values()
            .zip(&coords)
            .map(|(domain, coords)| {
                let mut own: Vec<String> = Vec::new();
                for digit in &domain.layout.registers {
                    let axis = coords.get(digit.axis as usize).map_or("", String::as_str);
                    own.push(fresh(&format!("{axis}_step"), &[&global, coords, &own]));
                }
                own
            })
            .collect();
        let inside =
            coords.iter().zip(&digits).map(|(coords, digits)| [&coords[..], digits].concat());
        let inside: Vec<Vec<String>> = inside.collect();
        let mut scopes = Scopes { kernel, spell, inside: &inside, vars, seen: global };
        scopes.name_list(&kernel.body);
        let vars = scopes.vars.into_iter().zip(kernel.vars.values());
        let vars = vars.map(|(name, var)| name.unwrap_or_else(|| spell(&var.name))).collect();
        Self { kernel: name, buffers, args, tiles, vars, fragments, coords, digits }
    }

    pub(crate) fn buffer(&self, id: BufferId) -> &str {
        &self.buffers[id.index()]
    }

    pub(crate) fn arg(&self, id: ArgId) -> &str {
        &self.args[id.index()]
    }

    pub(crate) fn tile(&self, id: TileId) -> &str {
        &self.tiles[id.index()]
    }

    pub(crate) fn var(&self, id: VarId) -> &str {
        &self.vars[id.index()]
    }

    pub(crate) fn fragment(&self, id: FragmentId) -> &str {
        &self.fragments[id.index()]
    }

    pub(crate) fn coord(&self, domain: DomainId, axis: usize) -> &str {
        &self.coords[domain.index()][axis]
    }

    /// The counter over a register digit of a domain's layout.
    pub(crate) fn digit(&self, domain: DomainId, number: usize) -> &str {
        &self.digits[domain.index()][number]
    }
}

/// `base`, numbered if one of the lists has it.
fn fresh(base: &str, taken: &[&[String]]) -> String {
    let is_taken = |name: &str| taken.iter().any(|list| list.iter().any(|other| other == name));
    let mut name = base.to_owned();
    let mut number = 2;
    while is_taken(&name) {
        name = format!("{base}_{number}");
        number += 1;
    }
    name
}

struct Scopes<'a> {
    kernel: &'a ProgramKernel,
    spell: &'a dyn Fn(&str) -> String,
    /// The names that the items of each domain see beside the others.
    inside: &'a [Vec<String>],
    vars: Vec<Option<String>>,
    /// The names that the present place sees.
    seen: Vec<String>,
}

impl Scopes<'_> {
    fn name_list(&mut self, stmts: &[Stmt]) {
        let outside = self.seen.len();
        for (number, stmt) in stmts.iter().enumerate() {
            let inside = self.seen.len();
            match &stmt.kind {
                StmtKind::Let { var, .. }
                | StmtKind::Shuffle { var, .. }
                | StmtKind::Ballot { var, .. }
                | StmtKind::Atomic { old: Some(var), .. } => {
                    self.declare(*var, &stmts[number..]);
                    continue;
                }
                StmtKind::For { var, body, .. } => {
                    self.declare(*var, body);
                    self.name_list(body);
                }
                StmtKind::Items { domain, body } => {
                    let inside = self.inside.get(domain.index()).cloned();
                    self.seen.extend(inside.unwrap_or_default());
                    self.name_list(body);
                }
                StmtKind::While { .. }
                | StmtKind::If { .. }
                | StmtKind::Assign { .. }
                | StmtKind::SetFragment { .. }
                | StmtKind::Store { .. }
                | StmtKind::Atomic { .. }
                | StmtKind::Copy { .. }
                | StmtKind::Commit(_)
                | StmtKind::Wait { .. }
                | StmtKind::Assume(_)
                | StmtKind::Barrier(_)
                | StmtKind::WarpBarrier => {
                    for body in stmt.kind.bodies() {
                        self.name_list(body);
                    }
                }
            }
            self.seen.truncate(inside);
        }
        self.seen.truncate(outside);
    }

    /// Names a variable that the statements of `scope` see.
    fn declare(&mut self, var: VarId, scope: &[Stmt]) {
        let Some(info) = self.kernel.vars.get(var) else { return };
        if self.vars[var.index()].is_none() {
            let mut domains = BTreeSet::new();
            domains_in(scope, &mut domains);
            let inside = domains.iter().filter_map(|domain| self.inside.get(domain.index()));
            let inside: Vec<String> = inside.flatten().cloned().collect();
            let name = fresh(&(self.spell)(&info.name), &[&self.seen, &inside]);
            self.vars[var.index()] = Some(name);
        }
        self.seen.extend(self.vars[var.index()].clone());
    }
}

fn domains_in(stmts: &[Stmt], found: &mut BTreeSet<DomainId>) {
    for stmt in stmts {
        if let StmtKind::Items { domain, .. } = stmt.kind {
            found.insert(domain);
        }
        stmt.kind.bodies().iter().for_each(|body| domains_in(body, found));
    }
}

/// Variables that several places declare, as copies of a loop's body do: their
/// name has to suit all of them.
fn declared_more_than_once(body: &[Stmt]) -> BTreeSet<VarId> {
    fn visit(stmts: &[Stmt], once: &mut BTreeSet<VarId>, again: &mut BTreeSet<VarId>) {
        for stmt in stmts {
            if let StmtKind::Let { var, .. }
            | StmtKind::Shuffle { var, .. }
            | StmtKind::Ballot { var, .. }
            | StmtKind::For { var, .. } = stmt.kind
                && !once.insert(var)
            {
                again.insert(var);
            }
            stmt.kind.bodies().iter().for_each(|body| visit(body, once, again));
        }
    }
    let (mut once, mut again) = (BTreeSet::new(), BTreeSet::new());
    visit(body, &mut once, &mut again);
    again
}
