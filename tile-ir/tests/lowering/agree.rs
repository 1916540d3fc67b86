//! Control flow that the checks call the same for the whole block can be lowered
//! so: what is accepted has a program.

use tile_ir::dtype::DType;
use tile_ir::program::{Stmt, StmtKind, print_program};

use crate::support::Case;

fn lower(body: &str) -> tile_ir::program::Program {
    let text = format!(
        "fn f(n: i32, #[pad = 0] x: &Tensor<f32, [N]>, #[pad = 0] rows: &Tensor<i32, [M]>, c: &mut Tensor<f32, [N]>) where tile: (TN, TS in 1..=16), grid: (bx in tiles(N, TN)), block: (tx in TN),\n{{ shared s: [f32; TN]; load s[j] = x[bx * TN + j]; barrier; let i = bx * TN + tx; let mut sum = 0.0;\n{body}\nc[i] = sum; }}"
    );
    let case = Case {
        text: Box::leak(text.into_boxed_str()),
        dtype: DType::F32,
        tiles: vec![("TN", 64), ("TS", 4)],
        axes: vec![32],
        threads: 32,
        run: 1,
        copy_bytes: 4,
        stages: 1,
        fragment_buffers: 1,
        align_bytes: 0,
        whole_vectors: false,
        split_edges: false,
        padding: tile_ir::config::TilePadding::Counted,
        stream: false,
        divisor: 1,
    };
    case.program()
}

/// Barriers in the program, at any depth.
fn barriers(stmts: &[Stmt]) -> usize {
    stmts
        .iter()
        .map(|stmt| match &stmt.kind {
            StmtKind::Barrier(_) => 1,
            StmtKind::For { body, .. }
            | StmtKind::While { body, .. }
            | StmtKind::Items { body, .. } => barriers(body),
            StmtKind::If { then, otherwise, .. } => barriers(then) + barriers(otherwise),
            _ => 0,
        })
        .sum()
}

/// Lowers a body with so many barriers besides the first.
#[track_caller]
fn check(count: usize, body: &str) {
    let program = lower(body);
    let kernel = &program.kernels[0];
    assert_eq!(barriers(&kernel.body), count + 1, "{body}\n{}", print_program(&program));
}

#[test]
fn conditions_that_hold_for_the_whole_block() {
    check(1, "if tx < TN { barrier; s[tx] = 1.0; }");
    check(1, "if tx >= TN { sum = 1.0; } else { barrier; sum = s[TN - 1 - tx]; }");
    check(0, "if tx >= TN { barrier; }");
    check(1, "if n > 0 || tx < TN { barrier; }");
    check(1, "let k = if tx < TN { 3 } else { 4 }; for l in 0..k { barrier; }");
    check(1, "for k in 0..4 { if k * TN + tx < 4 * TN { barrier; } }");
}

#[test]
fn conditions_of_the_launch() {
    check(2, "if n > 2 { barrier; } else { barrier; }");
    check(1, "for k in rows[bx]..rows[bx + 1] { sum += s[0]; barrier; }");
    check(1, "if rows[bx] > 2 { barrier; }");
    check(1, "while n > 1000 { barrier; }");
}

#[test]
fn variables_that_are_common_for_a_time() {
    check(1, "let mut k = tx; sum = s[k]; k = TN; while k > 0 { barrier; k = k / 2; }");
    check(1, "let mut k = tx; sum = s[k]; k = 1; k *= 8; for l in 0..k { barrier; }");
    check(1, "let mut k = tx; k = 5; let m = k + 1; if m > bx { barrier; }");
    check(
        1,
        "let mut k = tx; if bx > 1 { k = 4; } else { k = 3; } for l in 0..k { barrier; } k = tx; sum = s[k];",
    );
    check(
        1,
        "let mut k = tx; let mut m = 0; k = 3; for j in 0..k { m += j; } if m > 2 { barrier; }",
    );
    check(
        1,
        "let mut k = 0; for j in 0..tx { k += 1; } sum = s[k]; k = 2; let mut l = k; while l > 0 { l -= 1; barrier; }",
    );
    check(1, "let mut b = tx == 0; if b { sum = 1.0; } b = n > 3; if b { barrier; }");
    check(
        1,
        "let mut k = tx; for j in 0..3 { k = j; for l in 0..k { barrier; } k = tx + j; sum += s[k % TN]; }",
    );
    check(
        1,
        "let k; if n > 0 { k = tx; sum = s[k]; } let mut m = tx; m = TS; phase p in tiles(m, 2) { barrier; }",
    );
}
