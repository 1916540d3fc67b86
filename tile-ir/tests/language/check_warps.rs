//! Warps: where their operations may stand, and what their barriers order.

use expect_test::{Expect, expect};
use tile_ir::resolve::resolve_kernel;

use crate::support;

fn kernel(block: &str, body: &str) -> String {
    format!(
        "fn f(n: i32, #[pad = 0] x: &Tensor<f32, [N]>, #[pad = 0] k: &Tensor<i32, [N]>, c: &mut Tensor<f32, [N]>, d: &mut Tensor<u32, [N]>) where tile: (TN, TW in [32, 96], TP in pow2(64..=256)), grid: (bx in tiles(N, 64)), block: ({block}),\n{{ shared s: [f32; 64];\n{body}\n}}"
    )
}

fn findings(text: &str) -> String {
    let item = support::parse(text);
    match resolve_kernel(&item) {
        Ok(_) => support::check_families(text, &["TK01", "TK02", "TK03", "TK04", "TK0501"]),
        Err(diags) => support::render_all(&diags, &item.spans),
    }
}

const LINE: &str = "tx in 64";

#[track_caller]
fn body(block: &str, body: &str, expected: Expect) {
    expected.assert_eq(&findings(&kernel(block, body)));
}

#[track_caller]
fn accept(block: &str, body: &str) {
    assert_eq!(findings(&kernel(block, body)), "", "{block}: {body}");
}

#[track_caller]
fn refuse(code: &str, block: &str, body: &str) {
    let found = findings(&kernel(block, body));
    assert_eq!(found.matches("error[").count(), 1, "{block}: {body}\n{found}");
    assert!(found.contains(&format!("error[{code}]")), "{block}: {body}\n{found}");
}

/// A condition that a warp may agree on.
fn under(condition: &str) -> String {
    format!("let mut y = 0.0; if {condition} {{ y = warp_sum(x[tx]); }} c[bx * 64 + tx] = y;")
}

#[test]
fn what_a_warp_agrees_on() {
    for condition in [
        "tx / 32 == 0",
        "tx < 32",
        "tx >= 32",
        "32 > tx",
        "tx <= 31",
        "(tx >> 5) % 2 == 0",
        "tx / 64 > 0 || n > 3",
        "k[tx / 32] > 0",
        "ballot(x[tx] > 0.0) != 0",
        "warp_max(x[tx]) > 1.0",
        "bx > 2",
        "reduce_max(k[tx]) > 1",
        "shuffle(x[tx], 0) > 0.0",
        "shuffle(x[tx], 3) > 0.0",
        "shuffle_xor(k[tx / 32], 1) > 0",
    ] {
        accept(LINE, &under(condition));
    }
    for condition in [
        "tx < 16",
        "tx < 33",
        "tx <= 32",
        "tx / 16 == 0",
        "tx % 32 == 0",
        "tx == 0",
        "x[tx] > 0.0",
        "shuffle(x[tx], 32) > 0.0",
        "shuffle(x[tx], tx / 16) > 0.0",
        "shuffle_xor(x[tx], 1) > 0.0",
        "scan_sum(k[tx]) > 3",
        "(tx + 1) / 32 == 0",
    ] {
        refuse("TK0401", LINE, &under(condition));
    }
    let plane = |condition: &str| {
        format!(
            "let warp = (ty * 16 + tx) / 32; let mut y = 0.0; if {condition} {{ y = warp_sum(x[tx]); }} c[(bx * 4 + ty) * 16 + tx] = y;"
        )
    };
    accept("ty in 4, tx in 16", &plane("warp == 1"));
    accept("ty in 4, tx in 16", &plane("ty < 2"));
    refuse("TK0401", "ty in 4, tx in 16", &plane("ty < 3"));
    accept("ty in 4, tx in 16", &plane("tx / 32 == 0"));
    refuse("TK0401", "ty in 4, tx in 16", &plane("tx / 8 == 0"));
    refuse(
        "TK0401",
        "ty in 4, tx in 8",
        &plane("warp == 1").replace("16 + tx", "8 + tx").replace("ty * 8", "ty * 16"),
    );
}

#[test]
fn axes_of_warps() {
    let rows = |condition: &str| {
        format!(
            "let mut y = 0.0; if {condition} {{ y = warp_sum(x[l]); }} c[(bx * 4 + w) * 256 + l] = y;"
        )
    };
    accept("w in 2, l in 32", &rows("w == 0"));
    accept("w in 2, l in TW", &rows("w == 0"));
    accept("w in 2, l in TP", &rows("w == 0"));
    accept("w in 2, l in TW", &rows("(w * TW + l) / 32 == 3"));
    refuse("TK0401", "w in 2, l in TN", &rows("w == 0"));
    refuse("TK0401", "w in 2, l in 48", &rows("w == 0"));
    refuse("TK0401", "w in 2, l in 32", &rows("l < 16"));
}

#[test]
fn what_is_said() {
    body(
        LINE,
        "if tx < 16 {\nc[bx * 64 + tx] = shuffle_down(x[tx], 1);\n}",
        expect![[r#"
            error[TK0401]: not every work-item of the warp reaches this `shuffle_down`
              at 4:19
              at 3:4: `tx < 16` differs between work-items: it depends on `tx`
              note: `tx < 16` is true for work-item tx = 0 and false for work-item tx = 16
              help: close the `if` before the `shuffle_down` and, where more of it follows, open it again after it
        "#]],
    );
    body(
        LINE,
        "for j in 0..tx {\nwarp_barrier;\n}\nc[bx * 64 + tx] = 1.0;",
        expect![[r#"
            error[TK0401]: the work-items of the warp do not reach this `warp_barrier;` equally often
              at 4:1
              at 3:13: `tx` is an axis of the block, another number in each work-item
              note: `tx` is 0 for work-item tx = 0 and 1 for work-item tx = 1
              help: give the loop bounds that are the same for the whole warp, and put the work that differs under an `if`
        "#]],
    );
    body(
        LINE,
        "if bx * 64 + tx >= N {\nreturn;\n}\nc[bx * 64 + tx] = warp_sum(x[tx]);",
        expect![[r#"
            error[TK0401]: not every work-item of the warp reaches this `warp_sum`
              at 6:19
              at 4:1: a work-item that takes this `return` does not reach it
              at 3:4: `bx * 64 + tx >= N` differs between work-items: it depends on `tx`
              note: with N = 1, bx = 0, `bx * 64 + tx >= N` is false for work-item tx = 0 and true for work-item tx = 1
              help: let all work-items reach the `warp_sum`: put the work that differs under an `if` in place of the `return`
        "#]],
    );
    body(
        LINE,
        "c[bx * 64 + tx] = shuffle(tx, 3) as f32;",
        expect![[r#"
        error[TK0103]: `index` has no `shuffle`
          at 3:19
          help: convert to an integer type with `as` first
    "#]],
    );
    refuse("TK0102", LINE, "d[bx * 64 + tx] = ballot(k[tx]);");
    refuse("TK0102", LINE, "c[bx * 64 + tx] = shuffle(x[tx], x[tx]);");
    refuse("TK0401", LINE, "load s[j] = warp_sum(x[j]); barrier; c[bx * 64 + tx] = s[tx];");
    accept(LINE, "d[bx * 64 + tx] = ballot(x[tx] > 0.0) >> (tx as u32);");
    accept(LINE, "c[bx * 64 + tx] = shuffle(x[tx], k[tx]);");
}

/// The end of a tree in one warp, with these statements around each sum.
fn tree(before_write: &str, after_write: &str) -> String {
    format!(
        "s[tx] = x[tx]; barrier;
if tx < 32 {{
for d in halving(64) {{
let mut value = s[tx];
if tx < d {{ value += s[tx + d]; }}
{before_write}
s[tx] = value;
{after_write}
}}
}}
if tx == 0 {{ c[bx] = s[0]; }}"
    )
}

#[test]
fn what_warp_barriers_order() {
    accept(LINE, &tree("warp_barrier;", "warp_barrier;"));
    // Warps in lock step are never assumed.
    refuse("TK0301", LINE, &tree("", ""));
    refuse("TK0301", LINE, &tree("warp_barrier;", ""));
    refuse("TK0301", LINE, &tree("", "warp_barrier;"));
    // What another warp does is not ordered.
    refuse("TK0301", LINE, "s[tx] = x[tx]; warp_barrier; c[bx * 64 + tx] = s[63 - tx];");
    accept(LINE, "s[tx] = x[tx]; warp_barrier; c[bx * 64 + tx] = s[tx / 32 * 32 + 31 - tx % 32];");
    // Exchanges order nothing.
    refuse(
        "TK0301",
        LINE,
        "s[tx] = x[tx]; let y = warp_sum(x[tx]); c[bx * 64 + tx] = y + s[tx / 32 * 32 + 31 - tx % 32];",
    );
    // After two readers of one warp, a write of that warp: who read last counts.
    refuse(
        "TK0301",
        LINE,
        "s[tx] = x[tx]; barrier; let mut y = s[tx / 32 * 32]; warp_barrier; y += s[tx / 32 * 32]; s[tx] = y; c[bx * 64 + tx] = y;",
    );
    accept(
        LINE,
        "s[tx] = x[tx]; barrier; let mut y = s[tx / 32 * 32]; warp_barrier; s[tx] = y; c[bx * 64 + tx] = y;",
    );
}
