//! The textual form of a kernel and of its expressions: the language's own
//! syntax.
//!
//! A whole kernel is printed with every conversion explicit; its tiles stand at
//! the top of its body, wherever they were declared, and where `let`s share a
//! name the later ones are numbered (`x`, `x_2`). A single expression is printed as the user wrote it: without the conversions that the language made
//! by itself.

use super::{
    Access, ArrayRef, Axis, EachOrigin, Edge, ElemType, ExprId, ExprKind, Kernel, Literal,
    LoopRange, Param, Place, Stmt, StmtKind, TileDomain, TileId, TileSpace, Type, Var, VarId,
    VarKind,
};
use crate::dtype::DType;
use crate::op::{BinaryOp, CompareOp};
use crate::precedence::Level;

/// Writes a kernel in the language's own syntax, with casts explicit.
pub fn print_kernel(kernel: &Kernel) -> String {
    let mut printer = Printer { kernel, whole: true, converts: true, out: String::new() };
    printer.write_kernel();
    printer.out
}

/// Writes an expression as the user did, with the fewest parentheses.
pub fn print_expr(kernel: &Kernel, id: ExprId) -> String {
    Printer { kernel, whole: false, converts: false, out: String::new() }.expr(id, Level::Lowest)
}

/// The same with every conversion explicit.
pub(crate) fn print_converted(kernel: &Kernel, id: ExprId) -> String {
    Printer { kernel, whole: false, converts: true, out: String::new() }.expr(id, Level::Lowest)
}

/// Writes an access as the user did: `a_s[ty, k]`.
pub fn print_access(kernel: &Kernel, access: &Access) -> String {
    Printer { kernel, whole: false, converts: false, out: String::new() }.access(access)
}

struct Printer<'a> {
    kernel: &'a Kernel,
    /// Whether a whole kernel is printed: shadowed names are told apart.
    whole: bool,
    /// Whether every conversion is shown.
    converts: bool,
    out: String,
}

impl Printer<'_> {
    /// The text of an expression, in parentheses where it is looser than `least`.
    fn expr(&self, id: ExprId, least: Level) -> String {
        let (text, level) = self.bare_expr(id);
        if level < least { format!("({text})") } else { text }
    }

    fn bare_expr(&self, id: ExprId) -> (String, Level) {
        let expr = &self.kernel.exprs[id];
        match &expr.kind {
            ExprKind::Literal(literal) => self.literal(*literal, expr.ty),
            ExprKind::Var(var) => (self.var(*var), Level::Atom),
            ExprKind::Load(access) => (self.access(access), Level::Atom),
            ExprKind::Unary { op, operand } => {
                let operand = self.expr(*operand, Level::Prefix);
                (format!("{}{operand}", op.symbol()), Level::Prefix)
            }
            ExprKind::Binary { op, lhs, rhs } if op.is_function() => {
                let [lhs, rhs] = [lhs, rhs].map(|operand| self.expr(*operand, Level::Lowest));
                (format!("{op}({lhs}, {rhs})"), Level::Atom)
            }
            ExprKind::Binary { op, lhs, rhs } => {
                let level = Level::of_binary(*op);
                let is_shift_left = *op == BinaryOp::Shl;
                let is_shift = is_shift_left || *op == BinaryOp::Shr;
                let left = match is_shift.then(|| self.typed_literal(*lhs)).flatten() {
                    Some(literal) => literal,
                    None => self.left_operand(*lhs, level, is_shift_left),
                };
                (format!("{left} {op} {}", self.expr(*rhs, level.tighter())), level)
            }
            ExprKind::Compare { op, lhs, rhs } => {
                let left = self.left_operand(*lhs, Level::Or, *op == CompareOp::Lt);
                (format!("{left} {op} {}", self.expr(*rhs, Level::Or)), Level::Compare)
            }
            ExprKind::Logic { op, lhs, rhs } => {
                let level = Level::of_logic(*op);
                let right = self.expr(*rhs, level.tighter());
                (format!("{} {} {right}", self.expr(*lhs, level), op.symbol()), level)
            }
            ExprKind::Select { then, .. } if self.kernel.read_at_edge(id).is_some() => {
                self.bare_expr(*then)
            }
            ExprKind::Select { cond, then, otherwise } => {
                let [cond, then, otherwise] =
                    [cond, then, otherwise].map(|part| self.expr(*part, Level::Lowest));
                (format!("if {cond} {{ {then} }} else {{ {otherwise} }}"), Level::Lowest)
            }
            ExprKind::Cast(operand) => {
                let implicit = self.kernel.exprs[*operand].span == expr.span;
                if implicit && !self.converts {
                    return self.bare_expr(*operand);
                }
                let ty = self.kernel.type_name(expr.ty);
                (format!("{} as {ty}", self.expr(*operand, Level::Cast)), Level::Cast)
            }
            ExprKind::Math { func, arg } => {
                (format!("{}({})", func.name(), self.expr(*arg, Level::Lowest)), Level::Atom)
            }
            ExprKind::Uniform(operand) => {
                (format!("uniform({})", self.expr(*operand, Level::Lowest)), Level::Atom)
            }
            ExprKind::Tiles { extent, tile } => {
                (format!("tiles({})", self.list(&[*extent, *tile])), Level::Atom)
            }
            ExprKind::InBounds { tensor, indices } => {
                let name = self.kernel.array_name(ArrayRef::Tensor(*tensor));
                (format!("in_bounds({name}[{}])", self.list(indices)), Level::Atom)
            }
        }
    }

    /// A literal with its type, which the count of its shift does not tell, where it is not
    /// the one that a number has of itself.
    fn typed_literal(&self, id: ExprId) -> Option<String> {
        let expr = &self.kernel.exprs[id];
        let ExprKind::Literal(Literal::Int(value)) = expr.kind else { return None };
        let is_own = matches!(expr.ty, Type::Index | Type::Scalar(ElemType::Concrete(DType::I32)));
        (!is_own && value >= 0).then(|| format!("{value}{}", self.kernel.type_name(expr.ty)))
    }

    /// A left operand. After `as`, a `<` would start the type's arguments.
    fn left_operand(&self, id: ExprId, level: Level, before_angle: bool) -> String {
        let text = self.expr(id, level);
        if before_angle && self.ends_with_type(id, level) { format!("({text})") } else { text }
    }

    fn ends_with_type(&self, id: ExprId, least: Level) -> bool {
        if self.bare_expr(id).1 < least {
            return false;
        }
        match &self.kernel.exprs[id].kind {
            ExprKind::Cast(operand) => {
                let implicit = self.kernel.exprs[*operand].span == self.kernel.exprs[id].span;
                !implicit || self.converts || self.ends_with_type(*operand, least)
            }
            ExprKind::Binary { op, rhs, .. } => {
                !op.is_function() && self.ends_with_type(*rhs, Level::of_binary(*op).tighter())
            }
            ExprKind::Literal(_)
            | ExprKind::Var(_)
            | ExprKind::Load(_)
            | ExprKind::Unary { .. }
            | ExprKind::Compare { .. }
            | ExprKind::Logic { .. }
            | ExprKind::Select { .. }
            | ExprKind::Math { .. }
            | ExprKind::Uniform(_)
            | ExprKind::Tiles { .. }
            | ExprKind::InBounds { .. } => false,
        }
    }

    fn var(&self, id: VarId) -> String {
        let name = &self.kernel.vars[id].name;
        let is_namesake = |var: &Var| matches!(var.kind, VarKind::Let { .. }) && var.name == *name;
        if !self.whole || !is_namesake(&self.kernel.vars[id]) {
            return name.clone();
        }
        let earlier = self.kernel.vars.iter().take_while(|(other, _)| *other != id);
        match earlier.filter(|(_, var)| is_namesake(var)).count() {
            0 => name.clone(),
            shadowed => format!("{name}_{}", shadowed + 1),
        }
    }

    fn literal(&self, literal: Literal, ty: Type) -> (String, Level) {
        let text = match literal {
            Literal::Int(value) => value.to_string(),
            Literal::Float(value) => format!("{value:?}"),
            Literal::Bool(value) => value.to_string(),
            Literal::Named(constant) => {
                return (
                    format!("{}::{}", self.kernel.type_name(ty), constant.name()),
                    Level::Atom,
                );
            }
        };
        let level = if text.starts_with('-') { Level::Prefix } else { Level::Atom };
        (text, level)
    }

    fn access(&self, access: &Access) -> String {
        format!("{}[{}]", self.kernel.array_name(access.array), self.list(&access.indices))
    }

    /// Expressions with commas between them.
    fn list(&self, ids: &[ExprId]) -> String {
        let texts: Vec<String> = ids.iter().map(|id| self.expr(*id, Level::Lowest)).collect();
        texts.join(", ")
    }
}

impl Printer<'_> {
    fn line(&mut self, depth: usize, text: &str) {
        for _ in 0..depth {
            self.out.push_str("    ");
        }
        self.out.push_str(text);
        self.out.push('\n');
    }

    fn write_kernel(&mut self) {
        let kernel = self.kernel;
        for line in &kernel.docs {
            self.line(0, format!("/// {line}").trim_end());
        }
        self.write_signature();
        self.line(0, "where");
        let tiles: Vec<String> = kernel.tile_params.ids().map(|id| self.tile_param(id)).collect();
        let constraints = kernel.constraints.iter().map(|id| self.expr(*id, Level::Lowest));
        let tiles: Vec<String> = tiles.into_iter().chain(constraints).collect();
        if !tiles.is_empty() {
            self.line(1, &format!("tile: ({}),", tiles.join(", ")));
        }
        if !kernel.grid.is_empty() {
            self.line(1, &format!("grid: ({}),", self.axes(&kernel.grid)));
        }
        if let Some(block) = &kernel.block {
            self.line(1, &format!("block: ({}),", self.axes(block)));
        }
        self.line(0, "{");
        let shared = kernel.tiles.values().filter(|tile| tile.space == TileSpace::Shared);
        for tile in shared {
            let (elem, extents) = (kernel.elem_name(tile.elem), self.list(&tile.extents));
            self.line(1, &format!("shared {}: [{elem}; {extents}];", tile.name));
        }
        for promise in &kernel.promises {
            let name = &kernel.tensors[promise.tensor].name;
            self.line(1, &format!("assume({}({name}));", promise.order.name()));
        }
        self.write_stmts(1, &kernel.body);
        self.line(0, "}");
    }

    fn write_signature(&mut self) {
        let kernel = self.kernel;
        let type_params: Vec<String> = kernel
            .type_params
            .values()
            .map(|param| format!("{}: {}", param.name, param.bound))
            .collect();
        let generics = match type_params.as_slice() {
            [] => String::new(),
            params => format!("<{}>", params.join(", ")),
        };
        self.line(0, &format!("pub fn {}{generics}(", kernel.name));
        for param in &kernel.params {
            let text = match *param {
                Param::Tensor(id) => {
                    let tensor = &kernel.tensors[id];
                    let pad = match tensor.edge {
                        Edge::DefaultPad => String::new(),
                        Edge::Pad(value) => {
                            format!("#[pad = {}] ", self.expr(value, Level::Lowest))
                        }
                        Edge::Rule(rule) => format!("#[edge({})] ", rule.name()),
                    };
                    let reference = if tensor.mutable { "&mut" } else { "&" };
                    let space = if tensor.mutable { " " } else { "" };
                    let (elem, extents) =
                        (kernel.elem_name(tensor.elem), self.list(&tensor.extents));
                    let (name, ty) = (&tensor.name, tensor.space.type_name());
                    format!("{pad}{name}: {reference}{space}{ty}<{elem}, [{extents}]>,")
                }
                Param::Scalar(id) => {
                    let scalar = &kernel.scalars[id];
                    format!("{}: {},", scalar.name, kernel.elem_name(scalar.elem))
                }
            };
            self.line(1, &text);
        }
        self.line(0, ")");
    }

    fn tile_param(&self, id: super::TileParamId) -> String {
        let param = &self.kernel.tile_params[id];
        let name = &param.name;
        match &param.domain {
            TileDomain::Any => name.clone(),
            TileDomain::Range { min, max, step: 1 } => format!("{name} in {min}..={max}"),
            TileDomain::Range { min, max, step } => format!("{name} in {min}..={max} step {step}"),
            TileDomain::Pow2 { min, max } => format!("{name} in pow2({min}..={max})"),
            TileDomain::List(values) => {
                let values: Vec<String> = values.iter().map(u32::to_string).collect();
                format!("{name} in [{}]", values.join(", "))
            }
            TileDomain::Equal(value) => format!("{name} = {}", self.expr(*value, Level::Lowest)),
        }
    }

    fn axes(&self, axes: &[Axis]) -> String {
        let texts: Vec<String> = axes
            .iter()
            .map(|axis| {
                let extent = self.expr(axis.extent, Level::Lowest);
                format!("{} in {extent}", self.kernel.vars[axis.var].name)
            })
            .collect();
        texts.join(", ")
    }

    fn write_stmts(&mut self, depth: usize, stmts: &[Stmt]) {
        for stmt in stmts {
            self.write_stmt(depth, &stmt.kind);
        }
    }

    fn write_stmt(&mut self, depth: usize, kind: &StmtKind) {
        let name = |var| self.var(var);
        match kind {
            StmtKind::Let { var, init } => {
                let value = init.map(|init| format!(" = {}", self.expr(init, Level::Lowest)));
                let text = format!("{}{};", self.declared(*var), value.unwrap_or_default());
                self.line(depth, &text);
            }
            StmtKind::LetArray { tile, init } => {
                let text = self.array(*tile, *init);
                self.line(depth, &text);
            }
            StmtKind::Assign { var, value } => {
                let value = self.expr(*value, Level::Lowest);
                let text = format!("{} = {value};", name(*var));
                self.line(depth, &text);
            }
            StmtKind::Store { access, value } => {
                let value = self.expr(*value, Level::Lowest);
                let text = format!("{} = {value};", self.access(access));
                self.line(depth, &text);
            }
            StmtKind::Update { place, op, value } => {
                let place = match place {
                    Place::Var(var) => name(*var),
                    Place::Element(access) => self.access(access),
                };
                let value = self.expr(*value, Level::Lowest);
                let text = match op.is_function() {
                    true => format!("{place} = {op}({place}, {value});"),
                    false => format!("{place} {op}= {value};"),
                };
                self.line(depth, &text);
            }
            StmtKind::Atomic { access, op, expected, value, old } => {
                let expected = expected.map(|expected| self.expr(expected, Level::Lowest));
                let value = self.expr(*value, Level::Lowest);
                let update = op.statement(&self.access(access), expected.as_deref(), &value);
                let old = old.map(|old| format!("{} = ", self.declared(old)));
                let text = format!("{}{update}", old.unwrap_or_default());
                self.line(depth, &text);
            }
            StmtKind::Exchange { var, op, value, lane } => {
                let ty = self.kernel.type_name(self.kernel.vars[*var].ty);
                let operands: Vec<ExprId> = [*value].into_iter().chain(*lane).collect();
                let operands = self.list(&operands);
                let text = format!("let {}: {ty} = {}({operands});", name(*var), op.name());
                self.line(depth, &text);
            }
            StmtKind::Each { axes, body, origin } => self.write_each(depth, axes, body, *origin),
            StmtKind::Phase { var, range, body } => {
                let head = format!("phase {} in {} {{", name(*var), self.range(range));
                self.write_block(depth, &head, body);
            }
            StmtKind::For { var, range, body } => {
                let head = format!("for {} in {} {{", name(*var), self.range(range));
                self.write_block(depth, &head, body);
            }
            StmtKind::While { cond, body } => {
                let head = format!("while {} {{", self.expr(*cond, Level::Lowest));
                self.write_block(depth, &head, body);
            }
            StmtKind::If { cond, then, otherwise } => {
                self.line(depth, &format!("if {} {{", self.expr(*cond, Level::Lowest)));
                self.write_stmts(depth + 1, then);
                if !otherwise.is_empty() {
                    self.line(depth, "} else {");
                    self.write_stmts(depth + 1, otherwise);
                }
                self.line(depth, "}");
            }
            StmtKind::Assume { cond } => {
                let cond = self.expr(*cond, Level::Lowest);
                self.line(depth, &format!("assume({cond});"));
            }
            StmtKind::Distinct { values, within } => {
                let values: Vec<String> =
                    values.iter().map(|value| self.expr(*value, Level::Lowest)).collect();
                self.line(depth, &format!("assume({}({}));", within.name(), values.join(", ")));
            }
            StmtKind::Barrier => self.line(depth, "barrier;"),
            StmtKind::WarpBarrier => self.line(depth, "warp_barrier;"),
        }
    }

    /// `let mut x: f32`
    fn declared(&self, var: VarId) -> String {
        let declared = &self.kernel.vars[var];
        let is_mutable = matches!(declared.kind, VarKind::Let { mutable: true });
        let word = if is_mutable { "let mut" } else { "let" };
        let ty = self.kernel.type_name(declared.ty);
        let ty = match declared.accumulator && !ty.starts_with("Acc<") {
            true => format!("Acc<{ty}>"),
            false => ty,
        };
        format!("{word} {}: {ty}", self.var(var))
    }

    /// `let mut x: [f32; 4] = [0; 4];`
    fn array(&self, id: TileId, init: Option<ExprId>) -> String {
        let tile = &self.kernel.tiles[id];
        let word = match tile.space {
            TileSpace::Local { mutable: true } => "let mut",
            TileSpace::Local { mutable: false } | TileSpace::Shared => "let",
        };
        let (elem, extents) = (self.kernel.elem_name(tile.elem), self.list(&tile.extents));
        let init = init.map(|init| format!(" = [{}; {extents}]", self.expr(init, Level::Lowest)));
        format!("{word} {}: [{elem}; {extents}]{};", tile.name, init.unwrap_or_default())
    }

    fn write_block(&mut self, depth: usize, head: &str, body: &[Stmt]) {
        self.line(depth, head);
        self.write_stmts(depth + 1, body);
        self.line(depth, "}");
    }

    fn write_each(&mut self, depth: usize, axes: &[Axis], body: &[Stmt], origin: EachOrigin) {
        if origin == EachOrigin::Load
            && let [Stmt { kind: StmtKind::Store { access, value }, .. }] = body
        {
            let value = self.expr(*value, Level::Lowest);
            self.line(depth, &format!("load {} = {value};", self.access(access)));
            return;
        }
        let names: Vec<&str> =
            axes.iter().map(|axis| self.kernel.vars[axis.var].name.as_str()).collect();
        let extents: Vec<ExprId> = axes.iter().map(|axis| axis.extent).collect();
        let head = match names.as_slice() {
            [name] => format!("each {name} in {} {{", self.list(&extents)),
            names => format!("each ({}) in ({}) {{", names.join(", "), self.list(&extents)),
        };
        self.write_block(depth, &head, body);
    }

    fn range(&self, range: &LoopRange) -> String {
        match *range {
            LoopRange::Between { start, end, step, reversed } => {
                let plain = self.between(start, end, step.is_some() || reversed);
                let step = step.map(|step| format!(".step_by({})", self.expr(step, Level::Lowest)));
                let reversed = if reversed { ".rev()" } else { "" };
                format!("{plain}{}{reversed}", step.unwrap_or_default())
            }
            LoopRange::Halving(n) => format!("halving({})", self.expr(n, Level::Lowest)),
            LoopRange::Doubling(n) => format!("doubling({})", self.expr(n, Level::Lowest)),
        }
    }

    fn between(&self, start: ExprId, end: ExprId, with_methods: bool) -> String {
        let starts_at_0 =
            matches!(self.kernel.exprs[start].kind, ExprKind::Literal(Literal::Int(0)));
        if starts_at_0 && matches!(self.kernel.exprs[end].kind, ExprKind::Tiles { .. }) {
            return self.expr(end, Level::Atom);
        }
        let text =
            format!("{}..{}", self.expr(start, Level::LogicOr), self.expr(end, Level::LogicOr));
        if with_methods { format!("({text})") } else { text }
    }
}
