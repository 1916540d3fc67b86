//! What is said about a conflict.

use std::fmt::Write as _;

use super::cure::{Cure, Insertion};
use super::free::leads_to;
use crate::check::uniformity;
use crate::diag::{Code, Diagnostic};
use crate::kernel::{
    Access, AccessKind, ArrayRef, EachOrigin, ExprId, ExprKind, Kernel, Literal, Place, Source,
    Stmt, StmtKind, VarId, any_stmt, eval_index, print_access,
};
use crate::op::AtomicOp;
use crate::solve::skeleton::{Conflict, Pair, Party, Scope, Site, Worker};
use crate::span::SpanId;

/// Most further pairs of accesses that are named.
const MAX_NAMED: usize = 3;

/// A conflict in words.
pub(super) struct Prose<'a> {
    kernel: &'a Kernel,
    conflict: &'a Conflict,
}

/// What is said of a barrier that mends a race within a block alone.
pub(super) const ORDERS_NO_BLOCKS: &str =
    "; it orders no blocks, which may meet there too, for all that is shown";

/// What is said of a pair that data decides about; with an assumption that settles it, if
/// there is one.
pub(super) fn open(
    kernel: &Kernel,
    pair: &Pair,
    source: Source,
    settled_by: Option<String>,
) -> Diagnostic {
    let name = kernel.array_name(pair.array());
    let (text, manner) = (source.text(kernel), source.manner());
    let who = match pair.scope {
        Scope::Block => "work-items",
        Scope::Grid => "blocks",
    };
    let part = match source {
        Source::Old(old) if !leads_to(kernel, old, pair) => "which decides about that",
        Source::Old(_) | Source::Load(_) | Source::Launch(_) => "in its index",
    };
    let message = format!(
        "cannot tell whether two {who} use one element of `{name}`: `{text}`, {part}, is {manner}"
    );
    let mut diagnostic = Diagnostic::error(Code::UndecidedRace, pair.second.span, message);
    if pair.first != pair.second {
        let does = pair.first.kind.verb();
        let text = format!("the other access, which {does} `{name}`");
        diagnostic = diagnostic.label(pair.first.span, text);
    }
    let remedy = "compute the index from the coordinates of the work-item, so that each element \
                  has one writer, or update it with `atomic`";
    match source {
        Source::Load(_) => {
            let known = settled_by.map(|assumption| format!("; {assumption}"));
            diagnostic
                .note(format!("two loads of `{text}` may give the same value"))
                .help(format!("{remedy}{}", known.unwrap_or_default()))
        }
        Source::Old(_) => match (settled_by, source.access(kernel)) {
            (Some(question), Some(access)) => {
                let (array, place) =
                    (kernel.array_name(access.array), print_access(kernel, access));
                let but = match is_there(kernel, access) {
                    true => "indices that are made of different ones may be equal".to_owned(),
                    false => {
                        format!("where `{array}` has no such element all of them give its pad")
                    }
                };
                diagnostic
                    .note(format!("each update of `{place}` gives another `{text}`, but {but}"))
                    .help(question)
            }
            (Some(_) | None, _) => slot_is_shared(kernel, diagnostic, pair, source),
        },
        Source::Launch(_) => diagnostic.help(remedy),
    }
}

/// Whether an access is sure to be of an element: where indices and extents are numbers, and of a
/// tile, where it is an error if not.
fn is_there(kernel: &Kernel, access: &Access) -> bool {
    let number = |expr: &ExprId| eval_index(kernel, *expr, &|_| None);
    let mut axes = access.indices.iter().zip(kernel.extents(access.array));
    let is_inside = |(index, extent): (&ExprId, &ExprId)| {
        number(index).zip(number(extent)).is_some_and(|(at, end)| (0..end).contains(&at))
    };
    matches!(access.array, ArrayRef::Tile(_)) || axes.all(is_inside)
}

/// Why an old value is no place of one work-item's own, and what would be.
fn slot_is_shared(
    kernel: &Kernel,
    diagnostic: Diagnostic,
    pair: &Pair,
    source: Source,
) -> Diagnostic {
    let text = source.text(kernel);
    let (array, place) = match source.access(kernel) {
        Some(access) => (Some(access.array), print_access(kernel, access)),
        None => (None, text.clone()),
    };
    match (array, pair.scope) {
        (Some(ArrayRef::Tile(_)), Scope::Grid) => diagnostic
            .note(format!("each block counts its own `{place}`, so two blocks may have one `{text}`"))
            .help("count in a tensor, or add to the index what is the block's own"),
        (Some(_) | None, Scope::Grid | Scope::Block) if pair.first != pair.second => diagnostic
            .note(format!(
                "slots of one counter lie as far apart as each update adds; of two counters nothing \
                 is known, nor of `{place}` where anything else is done to it"
            ))
            .help(
                "let each update add as many as the work-item uses, and take all slots of one \
                 array from one counter",
            ),
        (Some(of), Scope::Grid | Scope::Block) if is_counter(kernel, of) => {
            let (makes, help) = match source {
                Source::Old(old) if !leads_to(kernel, old, pair) => (
                    "lead to one element",
                    format!("let one `{text}` alone lead there, such as 0, or the last one of all"),
                ),
                Source::Old(_) | Source::Load(_) | Source::Launch(_) => (
                    "make one index",
                    format!("index by what is another number for each `{text}`, such as itself"),
                ),
            };
            let note = format!(
                "each update of `{place}` gives another `{text}`, but two of them may {makes}"
            );
            diagnostic.note(note).help(help)
        }
        (Some(_) | None, Scope::Grid | Scope::Block) => diagnostic
            .note(format!("two updates of `{place}` may give the same `{text}`"))
            .help(format!(
                "take it from a counter: `let {text} = atomic {place} += 1;`, where nothing else is \
                 done to `{place}` than to add 1 or more"
            )),
    }
}

/// Whether nothing is done to an array but that atomic updates add numbers above 0 to it.
fn is_counter(kernel: &Kernel, array: ArrayRef) -> bool {
    !any_stmt(&kernel.body, &mut |kind| match kind {
        StmtKind::Store { access, .. } | StmtKind::Update { place: Place::Element(access), .. } => {
            access.array == array
        }
        StmtKind::Atomic { access, op, value, .. } => {
            let is_above =
                matches!(kernel.exprs[*value].kind, ExprKind::Literal(Literal::Int(by)) if by > 0);
            access.array == array && !(*op == AtomicOp::Add && is_above)
        }
        _ => false,
    })
}

impl<'a> Prose<'a> {
    pub(super) fn new(kernel: &'a Kernel, conflict: &'a Conflict) -> Self {
        Self { kernel, conflict }
    }

    /// What is wrong at the second access.
    pub(super) fn message(&self) -> String {
        let Pair { scope, first, second, .. } = self.conflict.pair;
        let name = self.kernel.array_name(first.array);
        let space = match first.array {
            ArrayRef::Tile(_) => "tile",
            ArrayRef::Tensor(_) => "tensor",
        };
        let race = if self.conflict.cause.is_some() { "possible race" } else { "race" };
        let fault = match scope {
            Scope::Grid if first.kind.writes() && second.kind.writes() => {
                "two blocks write one element".to_owned()
            }
            Scope::Grid if second.kind.writes() => {
                "this overwrites what another block reads".to_owned()
            }
            Scope::Grid => "this reads what another block writes".to_owned(),
            Scope::Block if first.kind.writes() && second.kind.writes() => {
                format!("two {} write one element{}", self.workers(), self.iterations())
            }
            Scope::Block if self.is_one_statement() => {
                format!("one {} reads what another writes in the same statement", self.worker())
            }
            Scope::Block if second.kind.writes() => format!(
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

    /// Whether one of two writes is atomic and the other is not.
    fn is_half_atomic(&self) -> bool {
        let kinds = (self.conflict.pair.first.kind, self.conflict.pair.second.kind);
        matches!(
            kinds,
            (AccessKind::Atomic, AccessKind::Write) | (AccessKind::Write, AccessKind::Atomic)
        )
    }

    fn is_one_statement(&self) -> bool {
        let pair = &self.conflict.pair;
        pair.carried.is_none() && pair.first.stmt == pair.second.stmt
    }

    /// Whether the second access stands under a condition that not all of a block meet alike.
    fn is_under_condition(&self) -> bool {
        let uniformity = uniformity(self.kernel);
        let stmt = self.conflict.pair.second.stmt;
        stands_under(&self.kernel.body, stmt, &|cond| !uniformity.is_uniform_value(cond))
    }

    /// One of the two workers, where they are of one kind.
    fn worker(&self) -> &'static str {
        match (&self.conflict.first.worker, &self.conflict.second.worker) {
            (Worker::Item(_), Worker::Item(_)) => "work-item",
            (Worker::Item(_) | Worker::Point(..) | Worker::Body, _) => "thread",
        }
    }

    fn workers(&self) -> &'static str {
        match (&self.conflict.first.worker, &self.conflict.second.worker) {
            (Worker::Item(_), Worker::Item(_)) => "work-items",
            (Worker::Point(one, _), Worker::Point(other, _)) if one == other => "points of a loop",
            (Worker::Item(_) | Worker::Point(..) | Worker::Body, _) => "threads",
        }
    }

    fn iteration(&self) -> String {
        let Some(head) = self.conflict.pair.carried else { return String::new() };
        format!(" in the previous iteration of {}", Self::loop_name(self.kernel, head))
    }

    fn iterations(&self) -> String {
        let Some(head) = self.conflict.pair.carried else { return String::new() };
        format!(", in two iterations of {}", Self::loop_name(self.kernel, head))
    }

    fn loop_name(kernel: &Kernel, head: SpanId) -> String {
        let name = |var: VarId| &kernel.vars[var].name;
        match find(&kernel.body, head).map(|stmt| &stmt.kind) {
            Some(StmtKind::Phase { var, .. }) => format!("`phase {}`", name(*var)),
            Some(StmtKind::For { var, .. }) => format!("`for {}`", name(*var)),
            Some(StmtKind::While { .. }) => "`while`".to_owned(),
            Some(StmtKind::If { .. }) => "the `if`".to_owned(),
            Some(StmtKind::Each { origin: EachOrigin::Each, .. }) => "`each`".to_owned(),
            Some(StmtKind::Each { origin: EachOrigin::Load, body, .. }) => {
                match body.first().map(|stmt| &stmt.kind) {
                    Some(
                        StmtKind::Store { access, .. }
                        | StmtKind::Update { place: Place::Element(access), .. },
                    ) => format!("`load {}`", print_access(kernel, access)),
                    Some(_) | None => "`load`".to_owned(),
                }
            }
            Some(
                StmtKind::Let { .. }
                | StmtKind::LetArray { .. }
                | StmtKind::Assign { .. }
                | StmtKind::Store { .. }
                | StmtKind::Atomic { .. }
                | StmtKind::Update { .. }
                | StmtKind::Exchange { .. }
                | StmtKind::Assume { .. }
                | StmtKind::Distinct { .. }
                | StmtKind::Barrier
                | StmtKind::WarpBarrier,
            )
            | None => "the loop".to_owned(),
        }
    }

    /// What the first access does.
    pub(super) fn first(&self) -> String {
        self.party(&self.conflict.first, self.conflict.pair.first)
    }

    /// The example, and what else the same barrier would separate.
    pub(super) fn notes(&self, same: &[&Conflict]) -> Vec<String> {
        let second = self.party(&self.conflict.second, self.conflict.pair.second);
        let mut notes = vec![format!("here {second}")];
        if !self.conflict.sizes.is_empty() {
            notes.push(format!("for example with {}", self.values(&self.conflict.sizes)));
        }
        if let (Worker::Point(..), Worker::Point(..)) =
            (&self.conflict.first.worker, &self.conflict.second.worker)
        {
            notes.push("any thread of the block may run either point".to_owned());
        }
        if let Some(source) = self.conflict.cause {
            notes.push(self.condition(source));
        }
        let others = same.iter().filter(|other| other.pair.sites() != self.conflict.pair.sites());
        let mut likewise: Vec<String> = Vec::new();
        for pair in others.map(|other| &other.pair) {
            let name = self.kernel.array_name(pair.array());
            let [first, second] = [pair.first, pair.second].map(|site| self.line(site.span));
            let lines = if first == second {
                format!("line {first}")
            } else {
                format!("lines {first} and {second}")
            };
            let note = format!("likewise `{name}` on {lines}");
            if !likewise.contains(&note) {
                likewise.push(note);
            }
        }
        let more = likewise.len().saturating_sub(MAX_NAMED);
        likewise.truncate(MAX_NAMED);
        notes.extend(likewise);
        if more > 0 {
            notes.push(format!("and {more} pairs of accesses more"));
        }
        notes
    }

    /// What of memory has to be so that it happens.
    fn condition(&self, source: Source) -> String {
        let (line, text) = (self.line(source.span(self.kernel)), source.text(self.kernel));
        match (source, source.access(self.kernel)) {
            (Source::Old(_), Some(access)) => {
                let array = self.kernel.array_name(access.array);
                format!(
                    "for `{text}` on line {line} as the updates give it where `{array}` holds 0 at \
                     first"
                )
            }
            _ => format!("if the value of `{text}` on line {line} is so"),
        }
    }

    fn line(&self, span: SpanId) -> u32 {
        self.kernel.spans.range(span).line
    }

    /// Who does what to which element, and when.
    fn party(&self, party: &Party, site: Site) -> String {
        let pair = &self.conflict.pair;
        let mut who = match &party.worker {
            Worker::Item(at) => format!("work-item {}", self.point(at)),
            Worker::Point(head, at) => {
                format!("point {} of {}", self.point(at), Self::loop_name(self.kernel, *head))
            }
            Worker::Body => "the code outside of `each`".to_owned(),
        };
        // Within a block it is named where others, as the first, have no such example.
        let is_later = party.block.iter().any(|(_, at)| *at != 0);
        if pair.scope == Scope::Grid || is_later {
            let _ = write!(who, " in block {}", self.point(&party.block));
        }
        let does = site.kind.verb();
        let indices: Vec<String> = self.conflict.element.iter().map(ToString::to_string).collect();
        let name = self.kernel.array_name(pair.array());
        let mut text = format!("{who} {does} `{name}[{}]`", indices.join(", "));
        if !party.counters.is_empty() {
            let _ = write!(text, " at {}", self.values(&party.counters));
        }
        text
    }

    /// Where a barrier goes.
    pub(super) fn place(kernel: &Kernel, cure: &Cure) -> String {
        let place = match cure.insertion {
            Insertion::First(None) => "as the first statement".to_owned(),
            Insertion::First(Some(owner)) => {
                format!("as the first statement of {}", Self::loop_name(kernel, owner))
            }
            Insertion::Last(owner, line) => {
                let line = line.map(|line| format!("after line {line}, ")).unwrap_or_default();
                format!("{line}as the last statement of {}", Self::loop_name(kernel, owner))
            }
            Insertion::After(line) => format!("after line {line}"),
            Insertion::Within(line, column) => format!("on line {line}, before column {column}"),
        };
        let checked = match cure.left.is_empty() && !cure.blocks_may_meet {
            true => "the kernel then has no race",
            false => "the two are then in order",
        };
        let text = format!("add `barrier;` {place} (checked: {checked})");
        match cure.blocks_may_meet {
            true => text + ORDERS_NO_BLOCKS,
            false => text,
        }
    }

    /// What would mend it where no barrier does, or where not all places for one could be tried.
    pub(super) fn remedy(&self, is_untried: bool) -> String {
        let Pair { scope, first, second, .. } = self.conflict.pair;
        if let Some(source @ Source::Old(old)) = self.conflict.cause
            && leads_to(self.kernel, old, &self.conflict.pair)
        {
            return self.own_slots(source);
        }
        let text = match scope {
            Scope::Grid | Scope::Block if self.is_half_atomic() => {
                "make both of them `atomic`: an atomic update is not ordered with plain accesses"
            }
            Scope::Grid if first.kind.writes() && second.kind.writes() => {
                "give each element one writer, or update it with `atomic`: barriers do not order \
                 blocks"
            }
            // `c[i] += e` is both.
            Scope::Grid if first.span == second.span => {
                "update it with `atomic`, which has the element to itself: barriers do not order \
                 blocks"
            }
            Scope::Grid => {
                "write to another tensor than is read, or do it in two kernels: barriers do not \
                 order blocks"
            }
            Scope::Block if first.kind.writes() && second.kind.writes() => {
                return self.one_writer();
            }
            Scope::Block if self.is_one_statement() && self.is_under_condition() => {
                "take it apart: read into a variable, end the condition, `barrier;`, then ask \
                 again and write"
            }
            Scope::Block if self.is_one_statement() => {
                "take it apart: read into a variable, `barrier;`, then write"
            }
            Scope::Block if is_untried => {
                "put `barrier;` between the two, where the whole block comes by: there was too \
                 much to run to try the places"
            }
            Scope::Block => {
                "no place between the two is passed by the whole block: end the condition before \
                 the second one, add `barrier;`, and ask again"
            }
        };
        text.to_owned()
    }

    /// Whether a barrier within the statement is what would mend it within the block.
    pub(super) fn is_taken_apart(&self) -> bool {
        let Pair { scope, first, second, .. } = self.conflict.pair;
        let is_read = !(first.kind.writes() && second.kind.writes());
        scope == Scope::Block && is_read && !self.is_half_atomic() && self.is_one_statement()
    }

    /// How slots that updates of a counter give can be each work-item's own.
    fn own_slots(&self, source: Source) -> String {
        let array = self.kernel.array_name(self.conflict.pair.array());
        let text = source.text(self.kernel);
        let counter = source.access(self.kernel).map(|access| access.array);
        if let (Some(ArrayRef::Tile(_)), Scope::Grid) = (counter, self.conflict.pair.scope) {
            return "count in a tensor, or add to the index what is the block's own".to_owned();
        }
        format!(
            "let one counter give out the elements of `{array}`, and let each work-item use those \
             from `{text}` on, as many as its update adds"
        )
    }

    /// How one of several work-items can be the writer, by the names of the block's axes.
    fn one_writer(&self) -> String {
        let names = self.kernel.block.iter().flatten().map(|axis| &self.kernel.vars[axis.var].name);
        let picked: Vec<String> = names.map(|name| format!("{name} == 0")).collect();
        let asked = match picked.is_empty() {
            true => String::new(),
            false => format!(", as in `if {}`", picked.join(" && ")),
        };
        format!(
            "let one of them write it: give each work-item an element of its own, or ask which it \
             is{asked}"
        )
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

/// Whether a statement stands in an arm of an `if` of which the condition is one of these.
pub(super) fn stands_under(
    stmts: &[Stmt],
    wanted: SpanId,
    is_one: &dyn Fn(ExprId) -> bool,
) -> bool {
    stmts.iter().any(|stmt| {
        let is_if = matches!(stmt.kind, StmtKind::If { cond, .. } if is_one(cond));
        let mut bodies = stmt.kind.bodies().into_iter();
        bodies.any(|body| match is_if {
            true => any_within(body, wanted),
            false => stands_under(body, wanted, is_one),
        })
    })
}

/// Whether a statement is one of these or inside one.
fn any_within(stmts: &[Stmt], wanted: SpanId) -> bool {
    let is_inside = |body: &[Stmt]| any_within(body, wanted);
    stmts.iter().any(|stmt| stmt.span == wanted || stmt.kind.bodies().into_iter().any(is_inside))
}
