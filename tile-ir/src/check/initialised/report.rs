//! What is said of a tile that is read before it is written.

use super::Flow;
use crate::check::{Origins, wraps};
use crate::diag::{Code, Diagnostic};
use crate::kernel::{Access, ArrayRef, Kernel, Stmt, StmtKind, TileId, VarId, print_access};
use crate::solve::skeleton::{Unwritten, Worker};
use crate::span::SpanId;

/// Most elements and scalars that an example gives.
const MAX_GIVEN: usize = 4;

impl Flow<'_> {
    pub(super) fn report_tile(
        &mut self,
        tile: TileId,
        access: &Access,
        example: Option<&Unwritten>,
    ) {
        let name = &self.kernel.tiles[tile].name;
        let mut writes = Vec::new();
        collect_writes(&self.kernel.body, tile, &mut Vec::new(), &mut writes);
        let Some((write, around)) = writes.first() else {
            let message = format!("`{name}` is read and never written");
            let diagnostic = Diagnostic::error(Code::Uninitialised, access.span, message);
            self.diags.push(diagnostic.label(self.kernel.tiles[tile].span, "it is declared here"));
            return;
        };
        if example.is_none() && !self.fills.run.contains(&tile) {
            self.unshown.insert(access.span);
        }
        let position = |span| {
            let range = self.kernel.spans.range(span);
            (range.line, range.column)
        };
        // Statements around the write but not around the read may be passed by.
        let mut passed = around.iter().filter(|stmt| !is_in(self.kernel, access.span, stmt));
        let empty = passed.clone().find_map(|stmt| {
            let text = if self.maybe_empty.contains(&stmt.head) {
                "this loop may run zero times"
            } else if self.by_condition.contains(&stmt.head) {
                "this loop was not shown to write every cell before it ends"
            } else {
                return None;
            };
            Some((stmt.head, text))
        });
        let is_conditional = passed.any(|stmt| matches!(stmt.kind, StmtKind::If { .. }));
        let text = if position(*write) > position(access.span) {
            format!("`{name}` is written only here")
        } else if empty.is_some() {
            format!("`{name}` is written here")
        } else if is_conditional {
            format!("`{name}` is written here, under a condition")
        } else {
            format!("this was not shown to write every cell of `{name}`")
        };
        let message =
            format!("`{}` may be read before it is written", print_access(self.kernel, access));
        let mut diagnostic =
            Diagnostic::error(Code::Uninitialised, access.span, message).label(*write, text);
        if let Some((head, text)) = empty {
            diagnostic = diagnostic.label(head, text);
        }
        let is_open = example.is_none_or(|example| example.is_possible);
        if let Some(number) = is_open.then(|| self.taken.wrapped(tile, access)).flatten() {
            let note = wraps::note(self.kernel, number, "the cell would be shown to be written");
            self.diags.push(diagnostic.note(note).help(wraps::HELP));
            return;
        }
        if let Some(example) = example {
            // Who comes by an update first is not known.
            let origins = Origins::of(self.kernel);
            let mut deciding = writes.iter().flat_map(|(_, around)| around);
            let is_by_order = deciding.any(|stmt| {
                let mut exprs = stmt.kind.exprs().into_iter();
                exprs.any(|expr| origins.reaches(self.kernel, expr, &|_| false))
            });
            diagnostic = diagnostic.note(self.tell(name, example, is_by_order));
        }
        let help = match self.kernel.is_local(access.array) {
            true => format!("give it a first value: `let mut {name}: […] = [0; …];`"),
            false => format!("fill it first: `load {name}[…] = …;`"),
        };
        self.diags.push(diagnostic.help(help));
    }

    /// An example in words; `is_by_order` says that it is one in some orders of updates.
    fn tell(&self, name: &str, example: &Unwritten, is_by_order: bool) -> String {
        let is_possible = example.is_possible || is_by_order;
        let values = |values: &[(VarId, i64)]| -> String {
            let texts = values
                .iter()
                .map(|(var, value)| format!("{} = {value}", self.kernel.vars[*var].name));
            texts.collect::<Vec<_>>().join(", ")
        };
        let who = match &example.party.worker {
            Worker::Item(at) => format!("work-item ({})", values(at)),
            Worker::Point(_, at) => format!("the point ({})", values(at)),
            Worker::Body => "the block".to_owned(),
        };
        // The first block need not be named.
        let is_later = example.party.block.iter().any(|(_, at)| *at != 0);
        let block = &example.party.block;
        let who = if is_later { format!("{who} in block ({})", values(block)) } else { who };
        let element: Vec<String> = example.element.iter().map(ToString::to_string).collect();
        let element = format!("{name}[{}]", element.join(", "));
        let mut text = match is_possible {
            true => format!("{who} may read `{element}`"),
            false => format!("{who} reads `{element}`"),
        };
        if !example.party.counters.is_empty() {
            text = format!("{text} at {}", values(&example.party.counters));
        }
        let sizes = example.sizes.iter().filter(|(var, _)| !example.given.has(*var));
        let mut given = example.given.told(self.kernel);
        given.truncate(MAX_GIVEN);
        given.extend(sizes.map(|size| values(std::slice::from_ref(size))));
        if !given.is_empty() {
            text = format!("with {}, {text}", given.join(", "));
        }
        match is_possible {
            true => format!("{text}, of which nothing shows that it was written"),
            false => format!("{text}, which nobody has written"),
        }
    }
}

/// The writes to a tile, with the statements around each.
fn collect_writes<'a>(
    stmts: &'a [Stmt],
    tile: TileId,
    around: &mut Vec<&'a Stmt>,
    out: &mut Vec<(SpanId, Vec<&'a Stmt>)>,
) {
    for stmt in stmts {
        if let Some(access) = stmt.kind.set_element()
            && access.array == ArrayRef::Tile(tile)
        {
            out.push((access.span, around.clone()));
        }
        around.push(stmt);
        for body in stmt.kind.bodies() {
            collect_writes(body, tile, around, out);
        }
        around.pop();
    }
}

/// Whether `span` stands within a statement.
fn is_in(kernel: &Kernel, span: SpanId, stmt: &Stmt) -> bool {
    let (at, range) = (kernel.spans.range(span), kernel.spans.range(stmt.span));
    (range.line, range.column) <= (at.line, at.column)
        && (at.end_line, at.end_column) <= (range.end_line, range.end_column)
}
