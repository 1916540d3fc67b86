//! A syntax tree as short text: fully parenthesised, one line a statement.

use std::fmt::Write as _;

use tile_ir::syntax::{
    ArrayInit, EdgeAttr, Expr, ExprKind, KernelItem, Literal, Old, ParamKind, Place, Range, Stmt,
    StmtKind, TensorSpace, TileDomain, TypeExpr, TypeExprKind,
};

pub(crate) fn kernel(item: &KernelItem) -> String {
    let mut out = String::new();
    for line in &item.docs {
        writeln!(out, "/// {line}").unwrap();
    }
    let types: Vec<_> =
        item.type_params.iter().map(|p| format!("{}: {}", p.name.text, p.bound)).collect();
    writeln!(out, "{} <{}>", item.name.text, types.join(", ")).unwrap();
    for param in &item.params {
        let edge = match &param.edge {
            None => String::new(),
            Some(EdgeAttr::Pad { value, .. }) => format!(" pad {}", expr(value)),
            Some(EdgeAttr::Rule { name, .. }) => format!(" edge {}", name.text),
        };
        let kind = match &param.kind {
            ParamKind::Tensor { space, mutable, elem, extents } => {
                let how = match (space, mutable) {
                    (TensorSpace::Global, true) => "&mut",
                    (TensorSpace::Global, false) => "&",
                    (TensorSpace::Constant, true) => "&mut constant",
                    (TensorSpace::Constant, false) => "& constant",
                };
                format!("{how} {} [{}]", ty(elem), list(extents))
            }
            ParamKind::Scalar { ty: scalar } => ty(scalar),
        };
        writeln!(out, "  {}: {kind}{edge}", param.name.text).unwrap();
    }
    for tile in &item.tiles {
        let domain = match &tile.domain {
            TileDomain::Any => String::new(),
            TileDomain::Range { min, max, step } => {
                let step = step.as_ref().map_or(String::new(), |s| format!(" step {}", expr(s)));
                format!(" in {}..={}{step}", expr(min), expr(max))
            }
            TileDomain::Pow2 { min, max } => format!(" in pow2 {}..={}", expr(min), expr(max)),
            TileDomain::List(values) => format!(" in [{}]", list(values)),
            TileDomain::Equal(value) => format!(" = {}", expr(value)),
        };
        writeln!(out, "  tile {}{domain}", tile.name.text).unwrap();
    }
    for constraint in &item.constraints {
        writeln!(out, "  given {}", expr(&constraint.cond)).unwrap();
    }
    for axis in &item.grid {
        writeln!(out, "  grid {} in {}", axis.name.text, expr(&axis.extent)).unwrap();
    }
    for axis in &item.block {
        writeln!(out, "  block {} in {}", axis.name.text, expr(&axis.extent)).unwrap();
    }
    body(&item.body, 1, &mut out);
    out
}

fn body(stmts: &[Stmt], depth: usize, out: &mut String) {
    for stmt in stmts {
        let (head, inner) = statement(stmt);
        writeln!(out, "{}{head}", "  ".repeat(depth)).unwrap();
        for (label, stmts) in inner {
            if !label.is_empty() {
                writeln!(out, "{}{label}", "  ".repeat(depth)).unwrap();
            }
            body(stmts, depth + 1, out);
        }
    }
}

type Bodies<'s> = Vec<(&'static str, &'s [Stmt])>;

fn statement(stmt: &Stmt) -> (String, Bodies<'_>) {
    match &stmt.kind {
        StmtKind::Shared { name, elem, extents } => {
            (format!("shared {}: {} [{}]", name.text, ty(elem), list(extents)), vec![])
        }
        StmtKind::Let { name, mutable, ty: written, init } => {
            let how = if *mutable { "let mut" } else { "let" };
            let written = written.as_ref().map_or(String::new(), |t| format!(": {}", ty(t)));
            let init = init.as_ref().map_or(String::new(), |e| format!(" = {}", expr(e)));
            (format!("{how} {}{written}{init}", name.text), vec![])
        }
        StmtKind::LetArray { name, mutable, elem, extents, init } => {
            let how = if *mutable { "let mut" } else { "let" };
            let init = init.as_ref().map(|init| match init {
                ArrayInit::Repeat { value, extents, .. } => {
                    format!(" = [{}; {}]", expr(value), list(extents))
                }
                ArrayInit::List { values, .. } => format!(" = [{}]", list(values)),
            });
            let head = format!("{how} {}: {} [{}]", name.text, ty(elem), list(extents));
            (format!("{head}{}", init.unwrap_or_default()), vec![])
        }
        StmtKind::Assign { place: to, value } => {
            (format!("{} = {}", place(to), expr(value)), vec![])
        }
        StmtKind::Update { place: to, op, value } => {
            (format!("{} {op}= {}", place(to), expr(value)), vec![])
        }
        StmtKind::Atomic { old, array, indices, op, expected, value, .. } => {
            let indices: Vec<_> = indices.iter().map(expr).collect();
            let element = format!("{}[{}]", array.text, indices.join(", "));
            let old = old.as_ref().map(|old| match old {
                Old::Declared(old) => {
                    let mutable = if old.mutable { "mut " } else { "" };
                    let ty = old.ty.as_ref().map(|t| format!(": {}", ty(t)));
                    format!("let {mutable}{}{} = ", old.name.text, ty.unwrap_or_default())
                }
                Old::Assigned(to) => format!("{} = ", place(to)),
            });
            let expected = expected.as_ref().map(expr);
            let update = op.statement(&element, expected.as_deref(), &expr(value));
            let update = update.trim_end_matches(';');
            (format!("{}{update}", old.unwrap_or_default()), vec![])
        }
        StmtKind::Load { tile, indices, value } => {
            let names: Vec<_> = indices.iter().map(|name| name.text.as_str()).collect();
            (format!("load {}[{}] = {}", tile.text, names.join(", "), expr(value)), vec![])
        }
        StmtKind::Each { axes, body } => {
            let axes: Vec<_> =
                axes.iter().map(|a| format!("{} in {}", a.name.text, expr(&a.extent))).collect();
            (format!("each {}", axes.join(", ")), vec![("", body)])
        }
        StmtKind::Phase { var, range: over, body } => {
            (format!("phase {} in {}", var.text, range(over)), vec![("", body)])
        }
        StmtKind::For { var, range: over, body } => {
            (format!("for {} in {}", var.text, range(over)), vec![("", body)])
        }
        StmtKind::While { cond, body } => (format!("while {}", expr(cond)), vec![("", body)]),
        StmtKind::If { cond, then, otherwise } => {
            let mut bodies: Bodies<'_> = vec![("", then)];
            if !otherwise.is_empty() {
                bodies.push(("else", otherwise));
            }
            (format!("if {}", expr(cond)), bodies)
        }
        StmtKind::Scope(stmts) => ("scope".to_owned(), vec![("", stmts)]),
        StmtKind::Barrier => ("barrier".to_owned(), vec![]),
        StmtKind::Assume(fact) => (format!("assume {}", expr(fact)), vec![]),
        StmtKind::WarpBarrier => ("warp_barrier".to_owned(), vec![]),
        StmtKind::Jump(jump) => (jump.word().to_owned(), vec![]),
    }
}

fn range(range: &Range) -> String {
    match range {
        Range::Between { start, end, inclusive, step, reversed } => {
            let dots = if *inclusive { "..=" } else { ".." };
            let step = step.as_ref().map_or(String::new(), |s| format!(" step {}", expr(s)));
            let reversed = if *reversed { " reversed" } else { "" };
            format!("{}{dots}{}{step}{reversed}", expr(start), expr(end))
        }
        Range::Tiles { extent, tile, reversed } => {
            let reversed = if *reversed { " reversed" } else { "" };
            format!("tiles({}, {}){reversed}", expr(extent), expr(tile))
        }
        Range::Halving(n) => format!("halving({})", expr(n)),
        Range::Doubling(n) => format!("doubling({})", expr(n)),
    }
}

fn place(place: &Place) -> String {
    match place {
        Place::Name(name) => name.text.clone(),
        Place::Index { array, indices, .. } => format!("{}[{}]", array.text, list(indices)),
    }
}

fn list(exprs: &[Expr]) -> String {
    exprs.iter().map(expr).collect::<Vec<_>>().join(", ")
}

fn ty(ty: &TypeExpr) -> String {
    match &ty.kind {
        TypeExprKind::Name(name) => name.text.clone(),
        TypeExprKind::Acc(name) => format!("Acc<{}>", name.text),
    }
}

pub(crate) fn expr(e: &Expr) -> String {
    match &e.kind {
        ExprKind::Literal(Literal::Int { value, suffix }) => {
            format!("{value}{}", suffix.as_ref().map_or("", |name| &name.text))
        }
        ExprKind::Literal(Literal::Float { value, suffix }) => {
            format!("{value:?}{}", suffix.as_ref().map_or("", |name| &name.text))
        }
        ExprKind::Literal(Literal::Bool(value)) => value.to_string(),
        ExprKind::Name(name) => name.text.clone(),
        ExprKind::Path(path) => format!("{}::{}", ty(&path.ty), path.constant.text),
        ExprKind::Index { array, indices } => format!("{}[{}]", array.text, list(indices)),
        ExprKind::Unary { op, operand } => format!("({}{})", op.symbol(), expr(operand)),
        ExprKind::Binary { op, lhs, rhs } => format!("({} {op} {})", expr(lhs), expr(rhs)),
        ExprKind::Compare { op, lhs, rhs } => format!("({} {op} {})", expr(lhs), expr(rhs)),
        ExprKind::Logic { op, lhs, rhs } => {
            format!("({} {} {})", expr(lhs), op.symbol(), expr(rhs))
        }
        ExprKind::Cast { operand, ty: to } => format!("({} as {})", expr(operand), ty(to)),
        ExprKind::Call { func, args } => format!("{}({})", func.text, list(args)),
        ExprKind::Method { func, args } => format!(".{}({})", func.text, list(args)),
        ExprKind::If { cond, then, otherwise } => {
            format!("if {} {{{}}} else {{{}}}", expr(cond), expr(then), expr(otherwise))
        }
        ExprKind::Block { lets, value } => {
            let mut out = String::new();
            for item in lets {
                let of_type = item.ty.as_ref().map_or(String::new(), |of| format!(": {}", ty(of)));
                write!(out, "let {}{of_type} = {}; ", item.name.text, expr(&item.value)).unwrap();
            }
            out + &expr(value)
        }
    }
}
