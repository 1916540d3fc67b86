//! Atomic updates: unordered with each other, ordered with all else.

use super::{proved, unproved};
use expect_test::expect;

fn line(body: &str) -> String {
    format!(
        "fn f(ind: &Tensor<i32, [N]>, c: &mut Tensor<u32, [N]>)
where tile: (B), grid: (bx in tiles(N, B)), block: (tx in B),
{{ let i = bx * B + tx; shared s: [u32; B];
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
