//! Expressions and accesses, in Rust's syntax.

use super::Printer;
use crate::arena::EntityId;
use crate::precedence::Level;
use crate::program::{
    Access, AxisGuard, DomainId, ExprId, ExprKind, FragmentId, Literal, Target, VarId,
};

impl Printer<'_> {
    /// An expression where nothing binds to it.
    pub(super) fn whole(&self, id: ExprId) -> String {
        self.expr(id, Level::Lowest)
    }

    /// The text of an expression, in parentheses where it is looser than `least`.
    pub(super) fn expr(&self, id: ExprId, least: Level) -> String {
        let (text, level) = self.bare_expr(id);
        if level < least { format!("({text})") } else { text }
    }

    fn bare_expr(&self, id: ExprId) -> (String, Level) {
        let Some(expr) = self.kernel.exprs.get(id) else { return (id.to_string(), Level::Atom) };
        let mut is_ordered = true;
        expr.kind.for_each_operand(&mut |operand| is_ordered &= operand < id);
        if !is_ordered {
            // The text of a cycle would not end.
            return (id.to_string(), Level::Atom);
        }
        let whole = |operand: &ExprId| self.whole(*operand);
        match &expr.kind {
            ExprKind::Literal(literal) => self.literal(*literal),
            ExprKind::Var(var) => (self.var(*var), Level::Atom),
            ExprKind::Arg(arg) => (name_of(&self.names.args, *arg), Level::Atom),
            ExprKind::Coord { domain, axis } => (self.coord(*domain, *axis as usize), Level::Atom),
            ExprKind::Fragment(fragment) => (self.fragment(*fragment), Level::Atom),
            ExprKind::Load(access) => (self.access(access), Level::Atom),
            ExprKind::Unary { op, operand } => {
                let operand = self.expr(*operand, Level::Prefix);
                (format!("{}{operand}", op.symbol()), Level::Prefix)
            }
            ExprKind::Binary { op, lhs, rhs } if op.is_function() => {
                (format!("{op}({}, {})", whole(lhs), whole(rhs)), Level::Atom)
            }
            ExprKind::Binary { op, lhs, rhs } => {
                let level = Level::of_binary(*op);
                let (lhs, rhs) = (self.expr(*lhs, level), self.expr(*rhs, level.tighter()));
                (format!("{lhs} {op} {rhs}"), level)
            }
            ExprKind::Fma { a, b, c } => {
                (format!("fma({}, {}, {})", whole(a), whole(b), whole(c)), Level::Atom)
            }
            ExprKind::Compare { op, lhs, rhs } => {
                let (lhs, rhs) = (self.expr(*lhs, Level::Or), self.expr(*rhs, Level::Or));
                (format!("{lhs} {op} {rhs}"), Level::Compare)
            }
            ExprKind::Logic { op, lhs, rhs } => {
                let level = Level::of_logic(*op);
                let (lhs, rhs) = (self.expr(*lhs, level), self.expr(*rhs, level.tighter()));
                (format!("{lhs} {} {rhs}", op.symbol()), level)
            }
            ExprKind::Select { cond, then, otherwise } => {
                let [cond, then, otherwise] = [cond, then, otherwise].map(whole);
                (format!("if {cond} {{ {then} }} else {{ {otherwise} }}"), Level::Lowest)
            }
            ExprKind::Cast(operand) => {
                (format!("{} as {}", self.expr(*operand, Level::Cast), expr.ty), Level::Cast)
            }
            ExprKind::Math { func, arg } => {
                (format!("{}({})", func.name(), whole(arg)), Level::Atom)
            }
            ExprKind::CeilDiv { n, d } => {
                (format!("tiles({}, {})", whole(n), whole(d)), Level::Atom)
            }
            ExprKind::InBounds { buffer, indices } => {
                let indices: Vec<String> = indices.iter().map(whole).collect();
                let name = name_of(&self.names.buffers, *buffer);
                (format!("in_bounds({name}[{}])", indices.join(", ")), Level::Atom)
            }
        }
    }

    fn literal(&self, literal: Literal) -> (String, Level) {
        let text = match literal {
            Literal::Int(value) => value.to_string(),
            Literal::Float(value) => format!("{value:?}"),
            Literal::Bool(value) => value.to_string(),
        };
        let level = if text.starts_with('-') { Level::Prefix } else { Level::Atom };
        (text, level)
    }

    pub(super) fn access(&self, access: &Access) -> String {
        let (name, extents) = match access.target {
            Target::Buffer(id) => {
                let extents = self.kernel.buffers.get(id).map(|buffer| {
                    buffer.extents.iter().map(|&extent| self.extent(extent)).collect()
                });
                (name_of(&self.names.buffers, id), extents)
            }
            Target::Tile(id) => {
                let extents = self.kernel.tiles.get(id);
                let extents = extents.map(|tile| tile.extents.iter().map(u32::to_string).collect());
                (name_of(&self.names.tiles, id), extents)
            }
        };
        let extents: Vec<String> = extents.unwrap_or_default();
        let mut texts = Vec::new();
        for (axis, &index) in access.indices.iter().enumerate() {
            let guard = access.guards.get(axis).copied().unwrap_or_default();
            texts.push(self.guarded(index, guard, extents.get(axis)));
        }
        let slot = access.slot.map(|slot| format!("@({})", self.whole(slot))).unwrap_or_default();
        let width = match access.width {
            1 => String::new(),
            width => format!(".x{width}"),
        };
        let aligned = match access.aligned_elems {
            1 => String::new(),
            elems => format!(".aligned{elems}"),
        };
        let agreed = if access.agreed { ".agreed" } else { "" };
        let once = if access.once { ".once" } else { "" };
        let pad = access.pad.map(|pad| format!(" else {}", self.whole(pad))).unwrap_or_default();
        format!("{name}{slot}{width}{aligned}{agreed}{once}[{}{pad}]", texts.join(", "))
    }

    /// An extent, which reads no memory: that of a buffer whose extent reads the
    /// buffer would have no end.
    fn extent(&self, id: ExprId) -> String {
        let mut open = vec![id];
        while let Some(next) = open.pop() {
            match self.kernel.exprs.get(next).map(|expr| &expr.kind) {
                None | Some(ExprKind::Load(_)) => return id.to_string(),
                Some(kind) => kind.for_each_operand(&mut |operand| {
                    if operand < next {
                        open.push(operand);
                    }
                }),
            }
        }
        self.expr(id, Level::Or)
    }

    /// `0 <= i < M`, with the comparisons that are made.
    fn guarded(&self, index: ExprId, guard: AxisGuard, extent: Option<&String>) -> String {
        let least = if guard.any() { Level::Or } else { Level::Lowest };
        let mut text = self.expr(index, least);
        if guard.lower {
            text = format!("0 <= {text}");
        }
        if guard.upper {
            text = format!("{text} < {}", extent.map_or("?", String::as_str));
        }
        text
    }

    pub(super) fn var(&self, id: VarId) -> String {
        name_of(&self.names.vars, id)
    }

    pub(super) fn fragment(&self, id: FragmentId) -> String {
        name_of(&self.names.fragments, id)
    }

    pub(super) fn coord(&self, domain: DomainId, axis: usize) -> String {
        let name = self.names.coords.get(domain.index()).and_then(|axes| axes.get(axis));
        name.cloned().unwrap_or_else(|| format!("{domain}.{axis}"))
    }
}

/// The name of an id, or the id where it is of nothing.
fn name_of<I: EntityId + ToString>(names: &[String], id: I) -> String {
    names.get(id.index()).cloned().unwrap_or_else(|| id.to_string())
}
