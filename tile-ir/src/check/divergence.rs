//! TK0401: a barrier, `load`, `each`, `phase`, `uniform(…)` or exchange that the
//! work-items of a block (or warp) do not all reach equally often; TK0403:
//! `uniform(…)` of what differs between them.
//!
//! What differs is found by [`super::flow`]: dependence on a work-item's
//! coordinates, on loads that need not give all work-items one value, and on
//! where a variable was assigned. Conditions that hold for the whole block at
//! every admissible size ([`super::fold`]) do not count.
//!
//! Nothing is undecided here: what is not seen to be the same counts as
//! different. The concrete case in a message is looked for by trying small sizes
//! ([`super::sample`]); there is none where data decides.

use std::collections::{BTreeMap, BTreeSet};

use super::flow::{Branch, Cause, Collective, Divergent, Flow, NotUniform};
use super::sample::{Case, Sources};
use crate::diag::{Code, Diagnostic, Diagnostics};
use crate::exchange::{Group, WARP_ITEMS};
use crate::kernel::{
    ArrayRef, Exit, ExprId, ExprKind, Kernel, Source, Stmt, StmtKind, VarId, print_expr,
};
use crate::span::SpanId;
use crate::syntax::Jump;

/// Reports what [`super::flow`] has found.
pub(super) fn check_divergence(kernel: &Kernel, flow: &Flow, diags: &mut Diagnostics) {
    let sources = Sources::of(kernel);
    let mut branches: Vec<Branch> = Vec::new();
    let mut exits: Vec<SpanId> = Vec::new();
    for found in &flow.divergent {
        // One mistake is reported once, at the first statement that it hits.
        if !branches.contains(&found.branch) {
            branches.push(found.branch);
            let report = Report { kernel, sources: &sources, found };
            let exit = report.exit().map(|exit| exit.span);
            if exit.is_none_or(|exit| !exits.contains(&exit)) {
                diags.push(report.diagnostic());
            }
            exits.extend(exit);
        }
    }
    for found in &flow.not_uniform {
        diags.push(not_uniform(kernel, &sources, found));
    }
}

fn not_uniform(kernel: &Kernel, sources: &Sources<'_>, found: &NotUniform) -> Diagnostic {
    let NotUniform { operand, cause } = *found;
    let head = kernel.exprs[operand].span;
    let branch = Branch::Bound(operand);
    let as_bound = Divergent { collective: Collective::Uniform, head, branch, cause: Some(cause) };
    let message = "this is not the same for all work-items of the block, as `uniform(…)` says";
    let report = Report { kernel, sources, found: &as_bound };
    let diagnostic =
        report.explain(Diagnostic::error(Code::NotUniform, head, message), operand, cause);
    diagnostic
        .help("keep one value for the block in a tile, `barrier;`, and read that: `uniform(s[0])`")
}

struct Report<'a> {
    kernel: &'a Kernel,
    sources: &'a Sources<'a>,
    found: &'a Divergent,
}

impl Report<'_> {
    fn diagnostic(&self) -> Diagnostic {
        let word = keyword(self.found.collective);
        let group = self.group().name();
        let message = match self.found.branch {
            Branch::If(_) => format!("not every work-item of the {group} reaches this `{word}`"),
            Branch::While(_) | Branch::Bound(_) if self.is_own_bound() => {
                "the work-items of the block do not run this `phase` equally often".to_owned()
            }
            Branch::While(_) | Branch::Bound(_) => {
                format!("the work-items of the {group} do not reach this `{word}` equally often")
            }
            Branch::Each(_) => format!("this `{word}` stands in an `each`, whose points run apart"),
        };
        let mut diagnostic = Diagnostic::error(Code::Divergence, self.found.head, message);
        if let Some(exit) = self.exit() {
            return self.explain_exit(diagnostic, exit);
        }
        if let Some((condition, cause)) = self.condition() {
            diagnostic = self.explain(diagnostic, condition, cause);
        }
        diagnostic.help(self.help())
    }

    /// The `return`, `break` or `continue` that keeps work-items from here.
    fn exit(&self) -> Option<&Exit> {
        let (condition, cause) = self.condition()?;
        let place = |span: SpanId| {
            let range = self.kernel.spans.range(span);
            (range.line, range.column)
        };
        self.kernel.exits.iter().find(|exit| match cause {
            Cause::Control(flag, at) if exit.flag == Some(flag) => exit.span == at,
            Cause::Axis(..)
            | Cause::Load(_)
            | Cause::Old(_)
            | Cause::Control(..)
            | Cause::Exchange(..) => {
                let is_if = matches!(self.found.branch, Branch::If(_));
                is_if && exit.cond == Some(condition) && place(exit.span) < place(self.found.head)
            }
        })
    }

    fn explain_exit(&self, mut diagnostic: Diagnostic, exit: &Exit) -> Diagnostic {
        let (word, collective) = (exit.jump.word(), keyword(self.found.collective));
        let misses = match exit.jump {
            Jump::Return => format!("a work-item that takes this `{word}` does not reach it"),
            Jump::Break | Jump::Continue => {
                format!("a work-item that takes this `{word}` does not reach it as often as others")
            }
        };
        diagnostic = diagnostic.label(exit.span, misses);
        match (self.condition(), exit.cond) {
            (Some((condition, cause)), Some(cond)) if condition == cond => {
                diagnostic = self.explain(diagnostic, condition, cause);
            }
            (_, Some(cond)) => {
                let text = print_expr(self.kernel, cond);
                let what = format!("whether it does is decided by `{text}`");
                diagnostic = diagnostic.label(self.kernel.exprs[cond].span, what);
            }
            (_, None) => {}
        }
        diagnostic.help(match exit.jump {
            Jump::Return => format!(
                "let all work-items reach the `{collective}`: put the work that differs under an `if` in place of the `{word}`"
            ),
            Jump::Break | Jump::Continue => format!(
                "let all work-items run the loop equally often, with the work that differs under an `if` in place of the `{word}`"
            ),
        })
    }

    /// Whether the bound that differs is that of the reported `phase` itself.
    fn is_own_bound(&self) -> bool {
        let (Branch::Bound(bound), Collective::Phase) = (self.found.branch, self.found.collective)
        else {
            return false;
        };
        find(&self.kernel.body, &|stmt| {
            stmt.head == self.found.head
                && matches!(&stmt.kind, StmtKind::Phase { range, .. } if range.exprs().contains(&bound))
        })
        .is_some()
    }

    fn condition(&self) -> Option<(ExprId, Cause)> {
        let condition = match self.found.branch {
            Branch::If(expr) | Branch::While(expr) | Branch::Bound(expr) => expr,
            Branch::Each(_) => return None,
        };
        Some((condition, self.found.cause?))
    }

    /// Says why the condition differs, where that comes from, and for whom.
    fn explain(&self, diagnostic: Diagnostic, condition: ExprId, cause: Cause) -> Diagnostic {
        let expr = &self.kernel.exprs[condition];
        let text = print_expr(self.kernel, condition);
        let (what, source) = match cause {
            Cause::Axis(axis, used) => {
                let axis = self.name(axis);
                let what = if text == axis {
                    format!("`{axis}` is an axis of the block, another number in each work-item")
                } else {
                    format!("`{text}` differs between work-items: it depends on `{axis}`")
                };
                (what, Some((used, format!("`{axis}` comes in here"))))
            }
            Cause::Load(load) => {
                let (what, why) = self.load(load);
                let what = if text == what {
                    format!("{what} may differ between work-items: {why}")
                } else {
                    format!(
                        "`{text}` may differ between work-items: it depends on {what}, and {why}"
                    )
                };
                (what, Some((self.kernel.exprs[load].span, "the value is loaded here".to_owned())))
            }
            Cause::Old(var) => {
                let name = self.name(var);
                let what = format!(
                    "`{text}` differs between work-items: `{name}` is the old value of an atomic \
                     update, of which each work-item gets another"
                );
                let why = format!("`{name}` comes from here");
                (what, Some((Source::Old(var).span(self.kernel), why)))
            }
            Cause::Control(var, at) => {
                let name = self.name(var);
                let what =
                    format!("`{text}` may differ between work-items: it depends on `{name}`");
                let why = format!("`{name}` is assigned here, not equally often by all work-items");
                (what, Some((at, why)))
            }
            Cause::Exchange(var, at) => {
                let name = self.name(var);
                let what = format!("`{text}` differs between work-items: it depends on `{name}`");
                let why = format!("`{name}` gets a value of its own in each work-item here");
                (what, Some((at, why)))
            }
        };
        let mut diagnostic = diagnostic.label(expr.span, what);
        if let Some((span, why)) = source
            && self.line(span) != self.line(expr.span)
        {
            diagnostic = diagnostic.label(span, why);
        }
        if let Some(case) = self.example(condition) {
            diagnostic = diagnostic.note(case);
        }
        if self.has_other_arm() {
            diagnostic = diagnostic.note(
                "the `barrier;` in the other arm is another one: work-items wait for each other at one \
                 and the same `barrier;`",
            );
        }
        diagnostic
    }

    /// What is loaded, and why work-items may get different values.
    fn load(&self, load: ExprId) -> (String, String) {
        let text = format!("`{}`", print_expr(self.kernel, load));
        let ExprKind::Load(access) = &self.kernel.exprs[load].kind else {
            return (text, "it is loaded".to_owned());
        };
        let name = self.kernel.array_name(access.array);
        let why = match access.array {
            ArrayRef::Tile(_) if self.kernel.is_local(access.array) => {
                format!("each work-item has a `{name}` of its own")
            }
            ArrayRef::Tile(_) => {
                format!("`{name}` is a tile, which work-items may read at different times")
            }
            ArrayRef::Tensor(tensor) if self.kernel.tensors[tensor].mutable => {
                format!("the kernel may write `{name}` in between")
            }
            ArrayRef::Tensor(_) => "its index differs between work-items".to_owned(),
        };
        (text, why)
    }

    /// A block in which work-items part ways.
    fn example(&self, condition: ExprId) -> Option<String> {
        let mut unknowns = self.sources.unknowns(&[condition])?;
        let items: Vec<VarId> = self.kernel.block.iter().flatten().map(|axis| axis.var).collect();
        let last = items.last().copied();
        let mut items: Vec<VarId> =
            items.into_iter().filter(|axis| unknowns.remove(axis)).collect();
        if self.group() == Group::Warp {
            // The first 32 along the last axis are of one warp.
            items.retain(|axis| Some(*axis) == last);
        }
        self.sources.search(&unknowns, |case| self.part_ways(case, condition, &items, &unknowns))
    }

    fn part_ways(
        &self,
        case: &Case<'_>,
        condition: ExprId,
        items: &[VarId],
        unknowns: &BTreeSet<VarId>,
    ) -> Option<String> {
        let start: BTreeMap<VarId, i128> = items.iter().map(|axis| (*axis, 0)).collect();
        let first = case.eval_with(condition, &start)?;
        let may_differ = |at: i128| match self.group() {
            Group::Block => true,
            Group::Warp => at < i128::from(WARP_ITEMS),
        };
        // Work-items that differ from the first one along one axis.
        let (other, second) = items.iter().find_map(|axis| {
            case.candidates(*axis).into_iter().filter(|at| may_differ(*at)).find_map(|at| {
                let mut other = start.clone();
                other.insert(*axis, at);
                let value = case.eval_with(condition, &other)?;
                (value != first).then_some((other, value))
            })
        })?;
        let given = case.describe(unknowns);
        let given = if given.is_empty() { given } else { format!("with {given}, ") };
        let [first_item, second_item] = [&start, &other].map(|item| {
            let coords = item.iter().map(|(axis, at)| format!("{} = {at}", self.name(*axis)));
            coords.collect::<Vec<_>>().join(", ")
        });
        let text = print_expr(self.kernel, condition);
        Some(match self.found.branch {
            Branch::If(_) | Branch::While(_) => {
                let (yes, no) = if first != 0 { ("true", "false") } else { ("false", "true") };
                format!(
                    "{given}`{text}` is {yes} for work-item {first_item} and {no} for work-item {second_item}"
                )
            }
            Branch::Bound(_) | Branch::Each(_) => format!(
                "{given}`{text}` is {first} for work-item {first_item} and {second} for work-item {second_item}"
            ),
        })
    }

    /// Whether both arms of the `if` hold a barrier.
    fn has_other_arm(&self) -> bool {
        let Branch::If(condition) = self.found.branch else { return false };
        let is_barrier = |stmt: &Stmt| matches!(stmt.kind, StmtKind::Barrier);
        let arms = find(&self.kernel.body, &|stmt| {
            let StmtKind::If { cond, then, otherwise } = &stmt.kind else { return false };
            let has_barrier = |arm: &[Stmt]| find(arm, &is_barrier).is_some();
            *cond == condition && has_barrier(then) && has_barrier(otherwise)
        });
        self.found.collective == Collective::Barrier && arms.is_some()
    }

    fn help(&self) -> String {
        let word = keyword(self.found.collective);
        match self.found.branch {
            Branch::If(_) => format!(
                "close the `if` before the `{word}` and, where more of it follows, open it again after it"
            ),
            Branch::While(_) => format!(
                "let all work-items run the loop equally often, with the `{word}` in it and the work that differs under an `if`"
            ),
            Branch::Bound(_) => {
                let loops = if self.is_own_bound() { "phase" } else { "loop" };
                format!(
                    "give the {loops} bounds that are the same for the whole {}, and put the work that differs under an `if`",
                    self.group().name()
                )
            }
            Branch::Each(_) => format!("move the `{word}` out of the `each`"),
        }
    }

    /// Whose work-items should come by together.
    fn group(&self) -> Group {
        self.found.collective.group()
    }

    fn name(&self, var: VarId) -> &str {
        &self.kernel.vars[var].name
    }

    fn line(&self, span: SpanId) -> u32 {
        self.kernel.spans.range(span).line
    }
}

/// The first statement, in program order, of which `test` is true.
fn find<'a>(stmts: &'a [Stmt], test: &dyn Fn(&Stmt) -> bool) -> Option<&'a Stmt> {
    stmts.iter().find_map(|stmt| {
        if test(stmt) {
            return Some(stmt);
        }
        stmt.kind.bodies().into_iter().find_map(|body| find(body, test))
    })
}

fn keyword(collective: Collective) -> &'static str {
    match collective {
        Collective::Barrier => "barrier;",
        Collective::Load => "load",
        Collective::Each => "each",
        Collective::Phase => "phase",
        Collective::Exchange(op) => op.name(),
        Collective::Uniform => "uniform(…)",
        Collective::WarpBarrier => "warp_barrier;",
    }
}
