//! Assignments, and expressions that should be one.

use tile_ir::op::BinaryOp;
use tile_ir::resolve::is_built_in;
use tile_ir::syntax::{Expr, ExprKind, Old, Place, StmtKind};

use crate::atomic::parse_atomic;
use crate::context::Context;
use crate::error::{SpanPair, SyntaxError};
use crate::expr::parse_expr;
use crate::stmt::end_value;
use crate::token::Cursor;
use crate::words::nearest_statement_word;

type Result<T> = std::result::Result<T, SyntaxError>;

/// `target = e;` or `target += e;` from its operator on.
pub(crate) fn parse_assignment(
    cx: &mut Context,
    input: &mut Cursor<'_>,
    target: Expr,
    start: SpanPair,
) -> Result<StmtKind> {
    let whole = start.to(input.last());
    let op = input.peek_op();
    let update = op.and_then(update_operator);
    if update.is_none() && op != Some("=") {
        return Err(not_a_statement(input, &target, whole));
    }
    let place = match target.kind {
        ExprKind::Name(name) => Place::Name(name),
        ExprKind::Index { array, indices } => Place::Index { array, indices, span: target.span },
        ExprKind::Call { func, .. } if !is_built_in(&func.text) => {
            return Err(SyntaxError::new(whole, "this cannot be assigned")
                .help(format!("an element is written with brackets: `{}[…] = …;`", func.text)));
        }
        _ => {
            return Err(SyntaxError::new(whole, "this cannot be assigned")
                .help("a variable or an element can: `x = …;`, `c[i, j] = …;`"));
        }
    };
    input.eat_op(op.unwrap_or_default());
    if update.is_none() && input.is_word("atomic") {
        return parse_atomic(cx, input, start, Some(Old::Assigned(place)));
    }
    let value = parse_expr(cx, input)?;
    end_value(cx, input, start, "the assignment")?;
    Ok(match update {
        Some(op) => StmtKind::Update { place, op, value },
        None => StmtKind::Assign { place, value },
    })
}

fn not_a_statement(input: &Cursor<'_>, target: &Expr, whole: SpanPair) -> SyntaxError {
    const UNUSED: &str = "this value is not used";
    if input.is_op(":") {
        return input.expected("`=`").help("a declaration begins with `let` or `shared`");
    }
    if !(input.is_op(";") || input.is_end() || input.at_new_line()) {
        return match &target.kind {
            ExprKind::Name(name) => {
                let error =
                    SyntaxError::new(whole, format!("no statement begins with `{}`", name.text));
                match nearest_statement_word(&name.text) {
                    Some(word) => error.help(format!("did you mean `{word}`?")),
                    None => error.help("a declaration is `let x = …;`, an assignment `x = …;`"),
                }
            }
            _ => input.expected("`=`, `;` or an operator"),
        };
    }
    let error = SyntaxError::new(whole, UNUSED);
    match &target.kind {
        ExprKind::Name(name) if nearest_statement_word(&name.text) == Some("barrier") => {
            error.help("did you mean `barrier;`?")
        }
        ExprKind::Call { func, .. } | ExprKind::Method { func, .. } if is_atomic(&func.text) => {
            error.help("an update that others make too is `atomic c[i] += e;`")
        }
        ExprKind::Call { .. } | ExprKind::Method { .. } => {
            error.help("a function changes nothing: write `x = …;` or `c[i] = …;`")
        }
        _ => error.help("write `x = …;` or `c[i] = …;`"),
    }
}

/// Whether CUDA or Rust calls an atomic update so.
fn is_atomic(func: &str) -> bool {
    func.starts_with("atomic") || func.starts_with("fetch_")
}

/// The operator of a compound assignment.
pub(crate) fn update_operator(op: &str) -> Option<BinaryOp> {
    Some(match op {
        "+=" => BinaryOp::Add,
        "-=" => BinaryOp::Sub,
        "*=" => BinaryOp::Mul,
        "/=" => BinaryOp::Div,
        "%=" => BinaryOp::Rem,
        "&=" => BinaryOp::And,
        "|=" => BinaryOp::Or,
        "^=" => BinaryOp::Xor,
        "<<=" => BinaryOp::Shl,
        ">>=" => BinaryOp::Shr,
        _ => return None,
    })
}
