//! Statements in C++.

use super::Writer;
use super::expr::Strength;
use super::types::type_name;
use crate::arena::EntityId as _;
use crate::exchange::WARP_ITEMS;
use crate::op::AtomicOp;
use crate::program::{Access, ExprId, ExprKind, Literal, LoopRange, Stmt, StmtKind, Unroll, VarId};

impl Writer<'_> {
    pub(super) fn stmts(&mut self, stmts: &[Stmt]) {
        for stmt in stmts {
            self.stmt(stmt);
        }
    }

    /// Says which line of the user's file follows, where it is not the one after
    /// the last.
    pub(super) fn mark_line(&mut self, stmt: &Stmt) {
        let line = self.program.spans.range(stmt.span).line;
        if let Some(file) = self.file
            && line != 0
            && line != self.line
        {
            let file = file.replace('\\', "\\\\").replace('"', "\\\"");
            self.out.push_str(&format!("#line {line} \"{file}\"\n"));
            self.line = line;
        }
    }

    pub(super) fn stmt(&mut self, stmt: &Stmt) {
        self.mark_line(stmt);
        match &stmt.kind {
            StmtKind::Let { var, value } => self.declare(*var, *value),
            StmtKind::Assign { var, value } => {
                let line = format!("{} = {};", self.var(*var), self.whole(*value));
                self.put(&line);
            }
            StmtKind::SetFragment { fragment, value } => {
                let line = format!("{} = {};", self.fragment_place(*fragment), self.whole(*value));
                self.put(&line);
            }
            StmtKind::Store { access, value } => {
                let value = self.whole(*value);
                self.store(access, &value);
            }
            StmtKind::Atomic { access, old: None, .. } => {
                let call = format!("{};", self.atomic_call(&stmt.kind));
                self.put_guarded(access, &call);
            }
            StmtKind::Atomic { access, old: Some(old), .. } => {
                let constant = if self.assigned.contains(old) { "" } else { "const " };
                let ty = type_name(self.kernel.vars[*old].ty.storage());
                let value = self.old_value(access, &stmt.kind);
                let line = format!("{constant}{ty} {} = {value};", self.names.var(*old));
                self.put(&line);
            }
            StmtKind::Copy { dst, src, token: Some(_) } => self.copy_async(dst, src, None),
            StmtKind::Copy { dst, src, token: None } => {
                let value = self.loaded(src).1;
                self.store(dst, &value);
            }
            // For devices that check what they run.
            StmtKind::Assume(_) => {}
            // No pass issues those of two tokens at once.
            StmtKind::Commit(_) => self.put("tk_commit_copies();"),
            StmtKind::Wait { pending, .. } => {
                self.put(&format!("tk_wait_for_copies<{pending}>();"));
            }
            StmtKind::Items { domain, body } => self.items(*domain, body),
            StmtKind::For { var, range, unroll, body } => {
                if is_phase(body) {
                    let line = format!("// phase {}", self.names.var(*var));
                    self.put(&line);
                }
                self.counted_loop(*var, range, *unroll, body);
            }
            StmtKind::While { cond, body } => {
                let head = format!("while ({}) {{", self.whole(*cond));
                self.open(&head);
                self.stmts(body);
                self.close();
            }
            StmtKind::If { cond, then, otherwise } => {
                self.conditional(*cond, then, otherwise, Self::stmts);
            }
            StmtKind::Barrier(_) => self.put("__syncthreads();"),
            StmtKind::Shuffle { var, value, lane } => {
                let (value, lane) = (self.whole(*value), self.whole(*lane));
                let (ty, name) = self.declared(*var);
                let present = self.present_lanes();
                let own = if self.kernel.threads > 1 { "thread % 32" } else { "0" };
                self.put(&format!(
                    "const {ty} {name} = tk_shuffle({present}, {own}, {value}, {lane});"
                ));
            }
            StmtKind::Ballot { var, cond } => {
                let cond = self.whole(*cond);
                let (ty, name) = self.declared(*var);
                let present = self.present_lanes();
                self.put(&format!("const {ty} {name} = __ballot_sync({present}, {cond});"));
            }
            StmtKind::WarpBarrier => {
                let present = self.present_lanes();
                self.put(&format!("__syncwarp({present});"));
            }
        }
    }

    /// Type and name of a variable.
    fn declared(&self, var: VarId) -> (&'static str, String) {
        (type_name(self.kernel.vars[var].ty.storage()), self.names.var(var).to_owned())
    }

    /// The lanes of the present warp that have items, as bits.
    fn present_lanes(&self) -> String {
        let domain = self.present.unwrap_or(self.kernel.block_domain);
        let n_items = self.kernel.domains[domain].n_items();
        let last = n_items % u64::from(WARP_ITEMS);
        let some = format!("{:#x}u", (1u64 << last) - 1);
        match n_items / u64::from(WARP_ITEMS) {
            _ if last == 0 => "0xffffffffu".to_owned(),
            0 => some,
            full => format!("thread / 32 < {full} ? 0xffffffffu : {some}"),
        }
    }

    /// The call that makes an atomic update and gives the value before it.
    fn atomic_call(&self, update: &StmtKind) -> String {
        let StmtKind::Atomic { access, op, expected, value, .. } = update else {
            return String::new();
        };
        let mut args = vec![format!("&{}", self.place(access))];
        args.extend(expected.iter().chain([value]).map(|value| self.whole(*value)));
        format!("tk_atomic_{}({})", atomic_name(*op), args.join(", "))
    }

    /// The value before an atomic update, or the pad where there is none.
    pub(super) fn old_value(&self, access: &Access, update: &StmtKind) -> String {
        let call = self.atomic_call(update);
        match (self.guard(access), access.pad) {
            (Some((_, guard)), Some(pad)) => {
                format!("{guard} ? {call} : {}", self.operand(pad, Strength::Logic))
            }
            _ => call,
        }
    }

    fn declare(&mut self, var: VarId, value: Option<ExprId>) {
        let ty = type_name(self.kernel.vars[var].ty.storage());
        let name = self.names.var(var);
        let line = match value {
            Some(value) => {
                let constant = if self.assigned.contains(&var) { "" } else { "const " };
                format!("{constant}{ty} {name} = {};", self.whole(value))
            }
            None => format!("{ty} {name};"),
        };
        self.put(&line);
    }

    /// Stores a value where the comparisons hold.
    fn store(&mut self, access: &Access, value: &str) {
        let store = self.store_of(access, value);
        self.put_guarded(access, &store);
    }

    /// A line that is for where an access's comparisons hold.
    pub(super) fn put_guarded(&mut self, access: &Access, line: &str) {
        match self.guard(access) {
            Some((_, guard)) => {
                self.open(&format!("if ({guard}) {{"));
                self.put(line);
                self.close();
            }
            None => self.put(line),
        }
    }

    /// An `if`, its arms written by `list`. One of a thread that only begins a
    /// copy is the instruction's predicate: nothing is jumped over.
    pub(super) fn conditional(
        &mut self,
        cond: ExprId,
        then: &[Stmt],
        otherwise: &[Stmt],
        list: fn(&mut Self, &[Stmt]),
    ) {
        let cond = self.whole(cond);
        if let ([only], []) = (then, otherwise)
            && let StmtKind::Copy { dst, src, token: Some(_) } = &only.kind
        {
            return self.copy_async(dst, src, Some(&cond));
        }
        self.open(&format!("if ({cond}) {{"));
        list(self, then);
        if !otherwise.is_empty() {
            self.depth -= 1;
            self.open("} else {");
            list(self, otherwise);
        }
        self.close();
    }

    fn counted_loop(&mut self, var: VarId, range: &LoopRange, unroll: Unroll, body: &[Stmt]) {
        let ty = type_name(self.kernel.vars[var].ty.storage());
        let k = self.var(var);
        let number = var.index();
        let pragma = match unroll {
            Unroll::Never => Some("#pragma unroll 1".to_owned()),
            Unroll::Auto => None,
            Unroll::By(count) => Some(format!("#pragma unroll {count}")),
            Unroll::Full => Some("#pragma unroll".to_owned()),
        };
        // Bounds are computed once, before the loop.
        let depth = self.depth;
        let once = |writer: &mut Self, name: &str, expr: ExprId| -> String {
            if writer.is_fixed(expr) {
                return writer.sum(expr);
            }
            if writer.depth == depth {
                writer.open("{");
            }
            let name = format!("tk_{name}{number}");
            let line = format!("const {ty} {name} = {};", writer.whole(expr));
            writer.put(&line);
            name
        };
        let (head, first) = match *range {
            LoopRange::Between { start, end, step, reversed } => {
                let end = once(self, "end", end);
                let step_text = once(self, "step", step);
                if reversed {
                    let start = once(self, "start", start);
                    let trips = format!("tk_trips({start}, {end}, {step_text})");
                    let n = format!("tk_n{number}");
                    (
                        format!("for ({ty} {n} = {trips} - 1; {n} >= 0; --{n}) {{"),
                        Some(format!("const {ty} {k} = {start} + {n} * {step_text};")),
                    )
                } else {
                    let start = self.whole(start);
                    let runs = if self.is_positive(step) {
                        String::new()
                    } else {
                        format!("{step_text} > 0 && ")
                    };
                    let next = match self.is_literal(step, 1) {
                        true => format!("++{k}"),
                        false => format!("{k} += {step_text}"),
                    };
                    (format!("for ({ty} {k} = {start}; {runs}{k} < {end}; {next}) {{"), None)
                }
            }
            LoopRange::Halving(n) => {
                let n = self.factor(n);
                (format!("for ({ty} {k} = {n} / 2; {k} >= 1; {k} /= 2) {{"), None)
            }
            LoopRange::Doubling(n) => {
                let n = once(self, "end", n);
                (format!("for ({ty} {k} = 1; {k} < {n}; {k} *= 2) {{"), None)
            }
        };
        if let Some(pragma) = pragma {
            self.put(&pragma);
        }
        self.open(&head);
        if let Some(first) = first {
            self.put(&first);
        }
        self.stmts(body);
        while self.depth > depth {
            self.close();
        }
    }

    /// Whether an expression's value cannot change during the kernel.
    fn is_fixed(&self, expr: ExprId) -> bool {
        match &self.kernel.exprs[expr].kind {
            ExprKind::Literal(_) | ExprKind::Arg(_) => true,
            ExprKind::CeilDiv { n, d } => self.is_fixed(*n) && self.is_fixed(*d),
            _ => false,
        }
    }

    fn is_positive(&self, expr: ExprId) -> bool {
        let kind = &self.kernel.exprs[expr].kind;
        matches!(kind, ExprKind::Literal(Literal::Int(value)) if *value > 0)
    }

    pub(super) fn is_literal(&self, expr: ExprId, value: i128) -> bool {
        self.kernel.exprs[expr].kind == ExprKind::Literal(Literal::Int(value))
    }
}

/// Whether a loop orders memory between its iterations.
fn is_phase(body: &[Stmt]) -> bool {
    body.iter().any(|stmt| match &stmt.kind {
        StmtKind::Barrier(_) => true,
        StmtKind::If { then, .. } => is_phase(then),
        _ => false,
    })
}

/// The end of the name of a prelude function.
const fn atomic_name(op: AtomicOp) -> &'static str {
    match op {
        AtomicOp::Add => "add",
        AtomicOp::Sub => "sub",
        AtomicOp::And => "and",
        AtomicOp::Or => "or",
        AtomicOp::Xor => "xor",
        AtomicOp::Min => "min",
        AtomicOp::Max => "max",
        AtomicOp::Swap => "swap",
        AtomicOp::CompareExchange => "compare_exchange",
    }
}
