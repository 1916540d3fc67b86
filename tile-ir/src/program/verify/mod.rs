//! Structural rules that every program fulfils after every pass.
//!
//! | file | rules |
//! | --- | --- |
//! | `ids` | every id is of something; operands have smaller ids than their user |
//! | `table` | names, extents, the grid, roles, variables, workspaces are consistent |
//! | `layout` | an item is one thread's and one register's; an element has its own place, inside shared memory |
//! | `expr` | types as [`super::ExprKind`] says of each form |
//! | `body` | statements stand at their scope and are of the types they need; control flow and values at block scope are the same for all threads |
//! | `flow` | what is read was set before, on every path, and is in scope |
//! | `vector` | vector accesses run along consecutive registers and are aligned in shared memory |
//! | `device` | what a device has enough of ([`verify_launch`]) |
//!
//! What needs proof is not verified: that an index without comparison is inside
//! (the CPU device checks it as it runs), that no two threads race.

mod body;
mod device;
mod expr;
mod flow;
mod ids;
mod layout;
mod table;
mod vector;

pub use device::verify_launch;

use super::print::{list_program, print_expr};
use super::{
    ArgId, BufferId, DomainId, Expr, ExprId, FragmentId, Program, ProgramKernel, RoleId, TileId,
    Ty, VarId, WorkspaceId,
};

/// A broken structural rule: always a defect of the pass that ran last.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("program `{kernel}`, {place}: {rule}")]
pub struct ProgramFault {
    /// The kernel's name.
    pub kernel: String,
    /// The place in what [`super::print_program`] writes: a statement with its
    /// line, or an entry of a table.
    pub place: String,
    /// What does not hold.
    pub rule: String,
}

/// Checks a program's structure.
///
/// # Errors
///
/// Every rule that is broken. Where ids are wrong only those are reported: the
/// other rules would have nothing to stand on.
pub fn verify_program(program: &Program) -> Result<(), Vec<ProgramFault>> {
    let mut faults = Vec::new();
    for (number, kernel) in program.kernels.iter().enumerate() {
        let mut cx = Verifier { program, kernel, place: Place::Kernel, faults: Vec::new() };
        ids::verify_ids(&mut cx);
        if cx.faults.is_empty() {
            table::verify_tables(&mut cx);
            layout::verify_layouts(&mut cx);
            expr::verify_types(&mut cx);
            body::verify_body(&mut cx);
            flow::verify_flow(&mut cx);
            vector::verify_vectors(&mut cx);
        }
        faults.extend(cx.into_faults(number));
    }
    if faults.is_empty() { Ok(()) } else { Err(faults) }
}

/// Where a rule is broken.
#[derive(Clone, Copy, Debug)]
enum Place {
    Kernel,
    Grid(usize),
    Arg(ArgId),
    Buffer(BufferId),
    Tile(TileId),
    Domain(DomainId),
    Fragment(FragmentId),
    Var(VarId),
    Role(RoleId),
    Workspace(WorkspaceId),
    Expr(ExprId),
    /// The number of a statement, in order of the text.
    Stmt(usize),
}

/// The kernel and the faults found in it.
struct Verifier<'a> {
    program: &'a Program,
    kernel: &'a ProgramKernel,
    /// What is being verified.
    place: Place,
    faults: Vec<(Place, String)>,
}

impl<'a> Verifier<'a> {
    fn fault(&mut self, rule: impl Into<String>) {
        self.faults.push((self.place, rule.into()));
    }

    /// Reports `rule` where `holds` is false.
    fn require(&mut self, holds: bool, rule: impl FnOnce() -> String) {
        if !holds {
            self.fault(rule());
        }
    }

    fn expr(&self, id: ExprId) -> &'a Expr {
        &self.kernel.exprs[id]
    }

    fn ty(&self, id: ExprId) -> Ty {
        self.expr(id).ty
    }

    /// The text of an expression, in quotes for a rule.
    fn text(&self, id: ExprId) -> String {
        format!("`{}`", print_expr(self.kernel, id))
    }

    /// Reports an expression of another type than `ty`; `what` is its use.
    fn require_type(&mut self, id: ExprId, ty: Ty, what: &str) {
        let found = self.ty(id);
        self.require_that(found == ty, id, || format!("{what}, is {found} and not {ty}"));
    }

    /// Reports an expression that is no index; `what` is its use.
    fn require_index(&mut self, id: ExprId, what: &str) {
        let found = self.ty(id);
        self.require_that(found.is_index(), id, || format!("{what}, is {found} and no index"));
    }

    /// Reports a rule about an expression: its text, then `rule`.
    fn require_that(&mut self, holds: bool, id: ExprId, rule: impl FnOnce() -> String) {
        if !holds {
            let rule = format!("{}, {}", self.text(id), rule());
            self.fault(rule);
        }
    }

    fn into_faults(self, number: usize) -> Vec<ProgramFault> {
        if self.faults.is_empty() {
            return Vec::new();
        }
        let listing = list_program(self.program);
        let lines = &listing.stmts[number];
        let place = |place| match place {
            Place::Kernel => "launch".to_owned(),
            Place::Grid(axis) => format!("axis {axis} of the grid"),
            Place::Arg(id) => format!("argument {}", self.name(id, &self.kernel.args, |a| &a.name)),
            Place::Buffer(id) => {
                format!("buffer {}", self.name(id, &self.kernel.buffers, |b| &b.name))
            }
            Place::Tile(id) => format!("tile {}", self.name(id, &self.kernel.tiles, |t| &t.name)),
            Place::Domain(id) => format!("domain {id}"),
            Place::Fragment(id) => {
                format!("fragment {}", self.name(id, &self.kernel.fragments, |f| &f.name))
            }
            Place::Var(id) => format!("variable {}", self.name(id, &self.kernel.vars, |v| &v.name)),
            Place::Role(id) => format!("role {}", self.name(id, &self.kernel.roles, |r| &r.name)),
            Place::Workspace(id) => {
                format!("workspace {}", self.name(id, &self.program.workspaces, |w| &w.name))
            }
            Place::Expr(id) => format!("expression {id} ({})", self.text(id)),
            Place::Stmt(stmt) => match lines.get(stmt) {
                Some(line) => format!("line {}, `{}`", line.number, line.text),
                None => format!("statement {stmt}"),
            },
        };
        let kernel = &self.kernel.name;
        let fault = |(at, rule): &(Place, String)| ProgramFault {
            kernel: kernel.clone(),
            place: place(*at),
            rule: rule.clone(),
        };
        let mut faults: Vec<ProgramFault> = Vec::new();
        for fault in self.faults.iter().map(fault) {
            // One rule may be broken at several operands with the same text.
            if !faults.contains(&fault) {
                faults.push(fault);
            }
        }
        faults
    }

    /// The name of an entry, in quotes.
    fn name<I: crate::arena::EntityId, T>(
        &self,
        id: I,
        table: &'a crate::arena::Arena<I, T>,
        name: impl Fn(&'a T) -> &'a String,
    ) -> String {
        match table.get(id) {
            Some(entry) => format!("`{}`", name(entry)),
            None => format!("{id:?}"),
        }
    }
}
