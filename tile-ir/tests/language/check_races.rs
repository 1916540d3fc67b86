//! TK0301, TK0302, TK0303: what races and what does not.

use crate::support;

/// The codes of the races in `text`, in order.
fn races(text: &str) -> Vec<String> {
    let found = support::check(text);
    let errors = found.lines().filter_map(|line| line.strip_prefix("error["));
    errors.map(|line| line[..6].to_owned()).collect()
}

#[track_caller]
fn accept(text: &str) {
    let found = support::check(text);
    assert!(!found.contains("error["), "{text}\n{found}");
}

#[track_caller]
fn reject(text: &str, codes: &[&str]) {
    let mut found = races(text);
    found.dedup();
    assert_eq!(found, codes, "{text}\n{}", support::check(text));
}

/// A kernel on vectors, one work-item per element, that shares `s`.
fn line(body: &str) -> String {
    format!(
        "fn f<T: Number>(n: i32, #[pad = 0] a: &Tensor<T, [N]>, ind: &Tensor<i32, [N]>, #[pad = 0] c: &mut Tensor<T, [N]>)
where tile: (B), grid: (bx in tiles(N, B)), block: (tx in B),
{{ let i = bx * B + tx;
shared s: [T; B];
shared s2: [T; 2, B];
{body}
}}"
    )
}

/// The tiled product, with what stands at its two barriers.
fn product(first: &str, second: &str) -> String {
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
for k in 0..TK {{ acc += a_s[ty, k] * b_s[k, tx]; }}
{second}
}}
c[by * TM + ty, bx * TN + tx] = acc;
}}"
    )
}

#[test]
fn tiled_product() {
    accept(&product("barrier;", "barrier;"));
    reject(&product("", "barrier;"), &["TK0301"]);
    reject(&product("barrier;", ""), &["TK0301"]);
    reject(&product("", ""), &["TK0301"]);
}

#[test]
fn one_interval() {
    accept(&line("s[tx] = a[i]; c[i] = s[tx];"));
    accept(&line("s[tx] = a[i]; barrier; c[i] = s[0];"));
    reject(&line("s[tx] = a[i]; c[i] = s[0];"), &["TK0301"]);
    reject(&line("s[tx] = a[i]; barrier; s[tx] = s[(tx + 1) % B]; c[i] = s[tx];"), &["TK0301"]);
    accept(&line(
        "s[tx] = a[i]; barrier; let x = s[(tx + 1) % B]; barrier; s[tx] = x; c[i] = s[tx];",
    ));
    reject(&line("s[0] = a[i]; barrier; c[i] = s[0];"), &["TK0301"]);
    accept(&line("if tx == 0 { s[0] = a[i]; } barrier; c[i] = s[0];"));
}
