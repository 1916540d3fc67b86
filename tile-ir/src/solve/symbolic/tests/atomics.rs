//! Atomic updates: unordered with each other, ordered with all else.

use super::{findings, proved, unproved};
use expect_test::expect;

fn line(body: &str) -> String {
    format!(
        "fn f(ind: &Tensor<i32, [N]>, len: &Tensor<u32, [N]>, c: &mut Tensor<u32, [N]>, e: &mut Tensor<u32, [N]>, o: &mut Tensor<u32, [N]>, p: &mut Tensor<u32, [N, N]>)
where tile: (B), grid: (bx in tiles(N, B)), block: (tx in B),
{{ let i = bx * B + tx; shared s: [u32; B]; shared n: [u32; 1]; shared q: [u32; B];
{body}
}}"
    )
}

#[test]
fn no_order_among_themselves() {
    proved(&line("atomic c[0] += 1;"));
    proved(&line("atomic c[ind[i]] += 1; atomic c[i / 2].max(3);"));
    proved(&line("load s[k] = 0; barrier; atomic s[ind[i]] += 1; barrier; c[i] = s[tx];"));
}

#[test]
fn ordered_with_plain_accesses() {
    unproved(
        &line("load s[k] = 0;\natomic s[0] += 1;\nbarrier;\nc[i] = s[tx];"),
        expect![[r#"
        s: write 4 / atomic 5: same interval
    "#]],
    );
    unproved(
        &line("load s[k] = 0;\nbarrier;\natomic s[0] += 1;\nc[i] = s[tx];"),
        expect![[r#"
        s: atomic 6 / read 7: same interval
    "#]],
    );
    unproved(
        &line("atomic c[0] += 1;\nc[i] = 2;"),
        expect![[r#"
        c: atomic 4 / write 5: same interval
        c: atomic 4 / write 5: between blocks
    "#]],
    );
}

#[test]
fn slots_of_a_tensor_are_the_grids() {
    proved(&line("let s = atomic c[0] += 1; o[s] = 1;"));
    proved(&line("if ind[i] > 3 { let s = atomic c[0] += 1; o[s] = i as u32; }"));
    proved(&line("let s = atomic c[0] += 2; o[s] = 1; o[s + 1] = 2;"));
    proved(&line("let s = atomic c[0] += 4; for j in 0..4 { o[s + j] = 2; }"));
    proved(&line("for k in 0..3 { let s = atomic c[0] += 1; o[s] = 1; }"));
    proved(&line("let s = atomic c[0] += 1; let t = atomic c[0] += 3; o[s] = 1; o[t] = 2;"));
    proved(&line("let s = atomic c[0] -= 1; o[s] = 1;"));
    proved(&line("let s = atomic c[0] -= 2; o[s] = 1; o[s as index - 1] = 2;"));
    // What is done to another one is no matter.
    proved(&line("let s = atomic c[0] += 1; atomic c[1].min(1); o[s] = 1;"));
    // A run as long as the work-item's own number says.
    proved(&line("let n = len[i]; let s = atomic c[0] += n; for j in 0..n { o[s + j] = 2; }"));
    // A counter for each bin.
    proved(&line("let b = ind[i]; let s = atomic c[b] += 1; p[b, s] = 2;"));
    // Who is first.
    proved(&line("let s = atomic c[0] += 1; if s == 0 { o[0] = 1; }"));
}

#[test]
fn what_is_no_slot() {
    let open = "o: write 5 / write 5: same interval\no: write 5 / write 5: between blocks\n";
    let check = |body: &str| assert_eq!(findings(&line(body)), open, "{body}");
    check("let s = atomic c[0].swap(1);\no[s] = 1;");
    check("let s = atomic c[0] += 0;\no[s] = 1;");
    check("let s = atomic c[0] |= 1;\no[s] = 1;");
    check("let s = atomic c[0].compare_exchange(0, 1);\no[s] = 1;");
    check("let s = atomic c[0] += len[i];\no[s] = 1;");
    check("let s = atomic c[i] += 1;\no[s] = 1;");
    check("let s = atomic c[ind[i]] += 1;\no[s] = 1;");
    check("let s = atomic c[0] += 1;\no[s / 2] = 1;");
    check("let s = atomic c[0] += 1;\no[min(s, 3)] = 1;");
    check("let s = atomic c[0] += 1; atomic c[0] -= 1;\no[s] = 1;");
    check("let s = atomic c[0] += 1; atomic c[i].min(1);\no[s] = 1;");
    let two = "let s = atomic c[0] += 1; let t = atomic e[0] += 1;\no[s] = 1; o[t] = 2;";
    assert_eq!(
        findings(&line(two)),
        "o: write 5 / write 5: same interval\no: write 5 / write 5: between blocks\n"
    );
    let wide = "let s = atomic c[0] += 1;\no[s] = 1; o[s + 1] = 1;";
    assert!(!findings(&line(wide)).is_empty());
}

#[test]
fn who_was_first_is_one() {
    proved(&line(
        "let k = ind[i]; let s = atomic c[k].compare_exchange(0, 1); if s == 0 { o[k] = 1; }",
    ));
    proved(&line("let k = ind[i]; let s = atomic c[k].swap(7); if s < 7 { o[k] = 1; }"));
    proved(&line("let k = ind[i]; let s = atomic c[k].max(1); if s == 0 { o[k] = 1; }"));
    proved(&line("let k = ind[i]; let s = atomic c[k] |= 4; if s == 2 { o[k] = 1; }"));
    // Another update that leaves no 0, and what it expects is a 0.
    proved(&line(
        "let k = ind[i]; let s = atomic c[k].compare_exchange(0, 1); atomic c[k].max(3); \
         if s == 0 { o[k] = 1; }",
    ));
    proved(&line(
        "let k = ind[i]; let n = len[i]; if n > 0 { \
         let s = atomic c[k].compare_exchange(0, n); if s == 0 { o[k] = 1; } }",
    ));
}

#[test]
fn who_was_first_is_not_known() {
    let open = "o: write 5 / write 5: same interval\no: write 5 / write 5: between blocks\n";
    let check = |body: &str| {
        let body = format!("let k = ind[i]; {body}");
        assert_eq!(findings(&line(&body)), open, "{body}");
    };
    // What is found is what updates leave.
    check("let s = atomic c[k].compare_exchange(0, 1); if s == 1 {\no[k] = 1; }");
    check("let s = atomic c[k].swap(1); if s != 0 {\no[k] = 1; }");
    // It is put back, or may be.
    check("let s = atomic c[k].swap(1); atomic c[k].swap(0); if s == 0 {\no[k] = 1; }");
    check("let s = atomic c[k].swap(1); atomic c[k] &= 2; if s == 0 {\no[k] = 1; }");
    check("let s = atomic c[k].compare_exchange(0, len[i]); if s == 0 {\no[k] = 1; }");
    check("let s = atomic c[k].max(0); if s == 0 {\no[k] = 1; }");
    // The exchange may not have taken place.
    check("let s = atomic c[k].compare_exchange(2, 1); if s == 0 {\no[k] = 1; }");
    // Of another element, or of none.
    check("let s = atomic c[i].swap(1); if s == 0 {\no[k] = 1; }");
    check("let s = atomic c[k].swap(1); if s == 0 {\no[k / 2] = 1; }");
}

#[test]
fn slots_of_a_tile_are_the_blocks() {
    let set = "c[i] = 0; if tx == 0 { n[0] = 0; } barrier;";
    proved(&line(&format!("{set} let s = atomic n[0] += 1; q[s] = 1;")));
    proved(&line(&format!(
        "{set} let s = atomic n[0] += 1; if s < B {{ o[bx * B + s as index] = 1; }}"
    )));
    proved(&line(&format!(
        "phase p in 0..4 {{ {set} let s = atomic n[0] += 1; q[s] = 1; barrier; }}"
    )));
    proved(&line(&format!(
        "{set} phase p in 0..4 {{ let s = atomic n[0] += 1; q[s] = 1; barrier; }}"
    )));
    unproved(
        &line(&format!("{set} let s = atomic n[0] += 1;\no[s] = 1;")),
        expect![[r#"
            o: write 5 / write 5: between blocks
        "#]],
    );
    // Two counts in one interval.
    unproved(
        &line(&format!(
            "{set} let s = atomic n[0] += 1; barrier; {set} let t = atomic n[0] += 1;\nq[s] = 1;\nq[t] = 2;"
        )),
        expect![[r#"
            q: write 5 / write 6: same interval
        "#]],
    );
    unproved(
        &line(&format!(
            "phase p in 0..4 {{ {set} let s = atomic n[0] += 1; barrier;\nq[s] = 1; }}"
        )),
        expect![[r#""#]],
    );
}
