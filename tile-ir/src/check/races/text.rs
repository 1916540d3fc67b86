//! What is said about a conflict.

use crate::kernel::{EachOrigin, Kernel, Place, Stmt, StmtKind, VarId, print_access};
use crate::solve::skeleton::{Conflict, Party, Scope, Worker};
use crate::span::SpanId;

/// A conflict in words.
pub(super) struct Prose<'a> {
    kernel: &'a Kernel,
    conflict: &'a Conflict,
}

impl<'a> Prose<'a> {
    pub(super) fn new(kernel: &'a Kernel, conflict: &'a Conflict) -> Self {
        Self { kernel, conflict }
    }

    /// What is wrong at the second access.
    pub(super) fn message(&self) -> String {
        let Conflict { array, scope, first, second, .. } = self.conflict;
        let name = self.kernel.array_name(*array);
        let space = match array {
            crate::kernel::ArrayRef::Tile(_) => "tile",
            crate::kernel::ArrayRef::Tensor(_) => "tensor",
        };
        let race = if self.conflict.possible { "possible race" } else { "race" };
        let fault = match scope {
            Scope::Grid => self.fault_between_blocks(),
            Scope::Block if first.site.write && second.site.write => {
                format!("two {} write one element", self.workers())
            }
            Scope::Block if first.site.stmt == second.site.stmt => {
                format!("one {} reads what another writes in the same statement", self.worker())
            }
            Scope::Block if second.site.write => format!(
                "this overwrites what another {} may still be reading{}",
                self.worker(),
                self.iteration()
            ),
            Scope::Block => format!(
                "this reads what another {} writes{}, with no `barrier;` between",
                self.worker(),
                self.iteration()
            ),
        };
        format!("{race} on the {space} `{name}`: {fault}")
    }

    fn fault_between_blocks(&self) -> String {
        let Conflict { first, second, .. } = self.conflict;
        if first.site.write && second.site.write {
            "two blocks write one element".to_owned()
        } else if second.site.write {
            "this overwrites what another block reads".to_owned()
        } else {
            "this reads what another block writes".to_owned()
        }
    }

    /// One of the two workers, where they are of one kind.
    fn worker(&self) -> &'static str {
        match (&self.conflict.first.worker, &self.conflict.second.worker) {
            (Worker::Item(_), Worker::Item(_)) => "work-item",
            (Worker::Point(one, _), Worker::Point(other, _)) if one == other => "point of the loop",
            (Worker::Item(_) | Worker::Point(..) | Worker::Body, _) => "thread",
        }
    }

    fn workers(&self) -> &'static str {
        match self.worker() {
            "work-item" => "work-items",
            "thread" => "threads",
            _ => "points of the loop",
        }
    }

    fn iteration(&self) -> String {
        let Some(head) = self.conflict.carried else { return String::new() };
        format!(" in the previous iteration of {}", self.loop_name(head))
    }

    fn loop_name(&self, head: SpanId) -> String {
        let name = |var: VarId| &self.kernel.vars[var].name;
        match find(&self.kernel.body, head).map(|stmt| &stmt.kind) {
            Some(StmtKind::Phase { var, .. }) => format!("`phase {}`", name(*var)),
            Some(StmtKind::For { var, .. }) => format!("`for {}`", name(*var)),
            Some(StmtKind::While { .. }) => "`while`".to_owned(),
            Some(StmtKind::Each { origin: EachOrigin::Each, .. }) => "`each`".to_owned(),
            Some(StmtKind::Each { origin: EachOrigin::Load, body, .. }) => {
                let store = body.first().map(|stmt| &stmt.kind);
                match store {
                    Some(
                        StmtKind::Store { access, .. }
                        | StmtKind::Update { place: Place::Element(access), .. },
                    ) => format!("`load {}`", print_access(self.kernel, access)),
                    Some(_) | None => "`load`".to_owned(),
                }
            }
            Some(_) | None => "the loop".to_owned(),
        }
    }

    /// Who does what to which element, and when.
    pub(super) fn party(&self, party: &Party) -> String {
        let mut who = match &party.worker {
            Worker::Item(at) => format!("work-item {}", self.point(at)),
            Worker::Point(head, at) => {
                format!("point {} of {}", self.point(at), self.loop_name(*head))
            }
            Worker::Body if party.block.is_empty() || self.conflict.scope == Scope::Block => {
                "the code around".to_owned()
            }
            Worker::Body => String::new(),
        };
        if self.conflict.scope == Scope::Grid {
            let block = format!("block {}", self.point(&party.block));
            who = if who.is_empty() { block } else { format!("{who} of {block}") };
        }
        let does = if party.site.write { "writes" } else { "reads" };
        let indices: Vec<String> = self.conflict.element.iter().map(ToString::to_string).collect();
        let name = self.kernel.array_name(self.conflict.array);
        let mut text = format!("{who} {does} `{name}[{}]`", indices.join(", "));
        if !party.counters.is_empty() {
            text.push_str(&format!(" at {}", self.values(&party.counters)));
        }
        text
    }

    /// The sizes of the example.
    pub(super) fn sizes(&self) -> Option<String> {
        let sizes = &self.conflict.sizes;
        (!sizes.is_empty()).then(|| format!("for example with {}", self.values(sizes)))
    }

    /// What would mend it.
    pub(super) fn remedy(&self) -> String {
        let Conflict { first, second, scope, .. } = self.conflict;
        match scope {
            Scope::Grid if first.site.write && second.site.write => {
                "give each element one writer: barriers do not order blocks".to_owned()
            }
            Scope::Grid => {
                "read from another tensor than is written, or split the kernel in two: barriers do \
                 not order blocks"
                    .to_owned()
            }
            Scope::Block if first.site.write && second.site.write => {
                "let one work-item write each element between two barriers".to_owned()
            }
            Scope::Block if first.site.stmt == second.site.stmt => {
                "read into a variable, then `barrier;`, then write".to_owned()
            }
            Scope::Block => "put `barrier;` between the two".to_owned(),
        }
    }

    fn point(&self, coordinates: &[(VarId, i64)]) -> String {
        format!("({})", self.values(coordinates))
    }

    fn values(&self, values: &[(VarId, i64)]) -> String {
        let texts: Vec<String> = values
            .iter()
            .map(|(var, value)| format!("{} = {value}", self.kernel.vars[*var].name))
            .collect();
        texts.join(", ")
    }
}

/// The statement whose keyword is at `head`.
fn find(stmts: &[Stmt], head: SpanId) -> Option<&Stmt> {
    stmts.iter().find_map(|stmt| {
        let inner = || stmt.kind.bodies().into_iter().find_map(|body| find(body, head));
        if stmt.head == head { Some(stmt) } else { inner() }
    })
}
