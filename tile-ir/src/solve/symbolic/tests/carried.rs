//! Barrier intervals across loops: back edges, loops that may not run, strides,
//! double buffers, scans.

use expect_test::expect;

use super::{proved, unproved};

fn line(tile: &str, body: &str) -> String {
    format!(
        "fn f<E: Number>(n: i32, a: &Tensor<E, [N]>, z: &Tensor<i32, [N]>, c: &mut Tensor<E, [N]>)
where tile: ({tile}), grid: (bx in tiles(N, T)), block: (tx in T), {{
{body}
}}"
    )
}

fn matmul(first: &str, last: &str) -> String {
    format!(
        "fn f<T: Number>(a: &Tensor<T, [M, K]>, b: &Tensor<T, [K, N]>, c: &mut Tensor<T, [M, N]>)
where tile: (TM, TN, TK), grid: (by in tiles(M, TM), bx in tiles(N, TN)), block: (ty in TM, tx in TN),
{{
shared a_s: [T; TM, TK];
shared b_s: [T; TK, TN];
let mut acc: Acc<T> = 0;
phase p in tiles(K, TK) {{
load a_s[i, k] = a[by * TM + i, p * TK + k];
load b_s[k, j] = b[p * TK + k, bx * TN + j];
{first}
for k in 0..TK {{
acc += a_s[ty, k] * b_s[k, tx];
}}
{last}
}}
c[by * TM + ty, bx * TN + tx] = acc;
}}"
    )
}

#[test]
fn matmul_needs_both_barriers() {
    proved(&matmul("barrier;", "barrier;"));
    unproved(
        &matmul("barrier;", ""),
        expect![[r#"
            a_s: write 8 / read 12: next `p`
            b_s: write 9 / read 12: next `p`
        "#]],
    );
    unproved(
        &matmul("", "barrier;"),
        expect![[r#"
            a_s: write 8 / read 12: same interval
            b_s: write 9 / read 12: same interval
        "#]],
    );
    unproved(
        &matmul("", ""),
        expect![[r#"
            a_s: write 8 / write 8: next `p`
            a_s: write 8 / read 12: same interval
            b_s: write 9 / write 9: next `p`
            b_s: write 9 / read 12: same interval
        "#]],
    );
}

#[test]
fn reductions_with_halving() {
    let reduction = |step: &str| {
        line(
            "T in pow2(32..=1024)",
            &format!(
                "shared s: [E; T];
s[tx] = a[bx * T + tx];
barrier;
{step}
if tx == 0 {{ c[bx] = s[0]; }}"
            ),
        )
    };
    proved(&reduction("for d in halving(T) { if tx < d { s[tx] += s[tx + d]; } barrier; }"));
    proved(&reduction(
        "let mut d = T / 2; while d > 0 { if tx < d { s[tx] += s[tx + d]; } barrier; d /= 2; }",
    ));
    proved(&reduction(
        "let mut d = T / 2; while d > 0 { if tx < d { s[tx] += s[tx + d]; } barrier; d = d >> 1; }",
    ));
    proved(&reduction(
        "for d in halving(T) { if tx < d { let v = s[tx + d]; s[tx] = s[tx] + v; } barrier; }",
    ));
    unproved(
        &reduction("for d in halving(T) { if tx < d { s[tx] += s[tx + d]; } }"),
        expect![[r#"
            s: read 6 / write 6: next `d`
        "#]],
    );
    unproved(
        &reduction("for d in halving(T) { if tx <= d { s[tx] += s[tx + d]; } barrier; }"),
        expect![[r#"
            s: read 6 / write 6: same interval
        "#]],
    );
    unproved(
        &reduction("for d in halving(T) { s[tx] += s[tx + d]; barrier; }"),
        expect![[r#"
            s: read 6 / write 6: same interval
        "#]],
    );
}

#[test]
fn a_reduction_with_its_barrier_first() {
    proved(&line(
        "T in pow2(32..=1024)",
        "shared s: [E; T];
s[tx] = a[bx * T + tx];
for d in halving(T) { barrier; if tx < d { s[tx] += s[tx + d]; } }
if tx == 0 { c[bx] = s[0]; }",
    ));
}

#[test]
fn interleaved_reductions() {
    let sweep = |body: &str| {
        line(
            "T",
            &format!(
                "shared s: [E; 4096];\nfor d in doubling(T) {{ {body} barrier; }}\nc[bx * T + tx] = 0;"
            ),
        )
    };
    proved(&sweep("let i = (tx + 1) * d * 2 - 1; if i < T { s[i] += s[i - d]; }"));
    proved(&sweep("let i = tx * 2 * d; if i + d < T { s[i] += s[i + d]; }"));
    proved(&sweep("if tx % (2 * d) == 0 { s[tx] += s[tx + d]; }"));
    unproved(
        &sweep("let i = tx * d; if i + d < T { s[i] += s[i + d]; }"),
        expect![[r#"
            s: read 4 / write 4: same interval
        "#]],
    );
    unproved(
        &sweep("if tx >= d { s[tx] += s[tx - d]; }"),
        expect![[r#"
            s: read 4 / write 4: same interval
        "#]],
    );
}

#[test]
fn scans_with_two_buffers() {
    let scan = |flip: &str| {
        line(
            "T",
            &format!(
                "shared s: [E; 2, T];
let mut cur = 0;
s[0, tx] = a[bx * T + tx];
barrier;
for d in doubling(T) {{
s[1 - cur, tx] = if tx >= d {{ s[cur, tx] + s[cur, tx - d] }} else {{ s[cur, tx] }};
barrier;
{flip}
}}
c[bx * T + tx] = s[cur, tx];"
            ),
        )
    };
    proved(&scan("cur = 1 - cur;"));
    proved(&scan("cur ^= 1;"));
    let broken = scan("cur = 1 - cur;").replace("s[1 - cur, tx] =", "s[cur, tx] =");
    unproved(
        &broken,
        expect![[r#"
            s: read 8 / write 8: same interval
        "#]],
    );
}

#[test]
fn scans_between_two_barriers() {
    let scan = |last: &str| {
        line(
            "T",
            &format!(
                "shared s: [E; T];
s[tx] = a[bx * T + tx];
barrier;
for d in doubling(T) {{
let mut v = s[tx];
if tx >= d {{ v += s[tx - d]; }}
barrier;
s[tx] = v;
{last}
}}
c[bx * T + tx] = s[tx];"
            ),
        )
    };
    proved(&scan("barrier;"));
    unproved(
        &scan(""),
        expect![[r#"
            s: read 8 / write 10: next `d`
        "#]],
    );
}

#[test]
fn double_buffered_phases() {
    let phases = |write: &str, read: &str| {
        line(
            "T",
            &format!(
                "shared s: [E; 2, T];
let mut sum: E = 0;
let mut buf = 0;
phase p in tiles(N, T) {{
s[{write}, tx] = a[p * T + tx];
barrier;
for k in 0..T {{ sum += s[{read}, k]; }}
buf = 1 - buf;
}}
c[bx * T + tx] = sum;"
            ),
        )
    };
    proved(&phases("p % 2", "p % 2"));
    proved(&phases("p & 1", "p & 1"));
    proved(&phases("buf", "buf"));
    let load = "each i in T { s[p % 2, i] = a[p * T + i]; }";
    proved(&phases("p % 2", "p % 2").replace("s[p % 2, tx] = a[p * T + tx];", load));
    unproved(
        &phases("0", "0"),
        expect![[r#"
            s: write 7 / read 9: next `p`
        "#]],
    );
    unproved(
        &phases("p % 2", "1 - p % 2"),
        expect![[r#"
            s: write 7 / read 9: next `p`
        "#]],
    );
    unproved(
        &phases("buf", "buf").replace("buf = 1 - buf;", "if n > 3 { buf = 1 - buf; }"),
        expect![[r#"
            s: write 7 / read 9: next `p`
        "#]],
    );
}

#[test]
fn loops_that_may_not_run_join_what_is_around_them() {
    let around = |range: &str| {
        line(
            "T in 2..=64",
            &format!(
                "shared s: [E; T + 1];\ns[tx] = 1;\nfor k in {range} {{ barrier; }}\nlet x = s[tx + 1]; c[bx * T + tx] = x;"
            ),
        )
    };
    unproved(
        &around("0..n"),
        expect![[r#"
            s: write 4 / read 6: same interval
        "#]],
    );
    unproved(
        &around("1..N"),
        expect![[r#"
            s: write 4 / read 6: same interval
        "#]],
    );
    // Where there is a block, there is something to cut into pieces.
    proved(&around("0..N"));
    proved(&around("0..T"));
    proved(&around("halving(T)"));
    proved(&around("0..3"));
}

#[test]
fn a_uniform_if_that_is_not_taken_joins_what_is_around_it() {
    unproved(
        &line(
            "T",
            "shared s: [E; T + 1];\ns[tx] = 1;\nif n > 0 { barrier; }\nc[bx * T + tx] = s[tx + 1];",
        ),
        expect![[r#"
            s: write 4 / read 6: same interval
        "#]],
    );
}

#[test]
fn arms_of_one_if() {
    let arms = |cond: &str| {
        line(
            "T",
            &format!(
                "shared s: [E; T + 1];\nif {cond} {{\ns[tx] = 1;\n}} else {{\nc[bx * T + tx] = s[tx + 1];\n}}"
            ),
        )
    };
    proved(&arms("n > 0"));
    unproved(
        &arms("tx > 3"),
        expect![[r#"
            s: write 5 / read 7: same interval
        "#]],
    );
    proved(&arms("tx < 3").replace("s[tx + 1]", "s[tx]"));
}

#[test]
fn conditional_barriers_in_loops() {
    unproved(
        &line(
            "T",
            "shared s: [E; T + 1];\nfor k in 0..n {\nif k % 2 == 0 { barrier; }\ns[tx] = 1;\nlet x = s[tx]; }\nc[bx * T + tx] = s[tx + 1];",
        ),
        expect![[r#"
            s: write 6 / read 8: same interval
        "#]],
    );
    unproved(
        &line(
            "T",
            "shared s: [E; T + 64];\nfor k in 0..64 {\nif k % 2 == 0 { barrier; }\ns[tx + k] = 1;\n}\nc[bx * T + tx] = 0;",
        ),
        expect![[r#"
            s: write 6 / write 6: next `k`
        "#]],
    );
}

#[test]
fn sliding_windows() {
    let window = |index: &str, step: &str| {
        line(
            "T",
            &format!(
                "shared s: [E; 4096];\nlet mut o = 0;\nfor k in 0..n {{\ns[{index}] = 1;\nbarrier;\nlet x = s[tx + o];\n{step}\n}}\nc[bx * T + tx] = 0;"
            ),
        )
    };
    proved(&window("tx + o", "o += T;"));
    proved(&window("tx + k * T", "o += T;"));
    unproved(
        &window("tx + o", "o += 1;"),
        expect![[r#"
            s: write 6 / read 8: next `k`
        "#]],
    );
}

#[test]
fn nested_loops() {
    proved(&line(
        "T",
        "shared s: [E; T];
for r in 0..n {
s[tx] = a[r];
for d in halving(T) { barrier; if tx < d { s[tx] += s[tx + d]; } }
barrier;
c[bx * T + tx] = s[0];
barrier;
}",
    ));
    unproved(
        &line(
            "T",
            "shared s: [E; T];
for r in 0..n {
s[tx] = a[r];
for d in halving(T) { barrier; if tx < d { s[tx] += s[tx + d]; } }
barrier;
c[bx * T + tx] = s[0];
}",
        ),
        expect![[r#"
            s: write 5 / read 8: next `r`
        "#]],
    );
}
