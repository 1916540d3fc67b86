//! Which accesses are proved to stay inside their tile.

use std::collections::BTreeSet;

use super::kernel;
use crate::check::uniformity;
use crate::kernel::ArrayRef;
use crate::solve::symbolic::staying;
use crate::solve::symbolic::walk::begin::walk;

/// Of the accesses to tiles in the body of a block of 256, how many stay inside, and how
/// many there are.
fn counts(body: &str) -> (usize, usize) {
    let kernel = kernel(&format!(
        "fn f(#[pad = 0] a: &Tensor<f32, [N]>, c: &mut Tensor<f32, [N]>, n: u32)
        where grid: (b in tiles(N, 256)), block: (t in 256),
        {{
            shared s: [f32; 256];
            {body}
            barrier;
            c[b * 256 + t] = s[t];
        }}"
    ));
    let uniformity = uniformity(&kernel);
    let is_tile = |array: &ArrayRef| matches!(array, ArrayRef::Tile(_));
    let asked: BTreeSet<_> = walk(&kernel, &uniformity)
        .sites
        .iter()
        .map(|site| (site.span, site.array))
        .filter(|(_, array)| is_tile(array))
        .collect();
    (staying(&kernel, &uniformity, &asked).len(), asked.len())
}

#[test]
fn guards_and_strides_bound_an_index() {
    let tree = |guard: &str| {
        counts(&format!(
            "s[t] = a[b * 256 + t];
            for d in halving(256) {{
                barrier;
                if {guard} {{ s[t] += s[t + d]; }}
            }}"
        ))
    };
    assert_eq!(tree("t < d"), (4, 4));
    // Work-item 128 would read element 256.
    assert_eq!(tree("t <= d"), (3, 4));
    assert_eq!(tree("t + d < 256"), (4, 4));
    assert_eq!(tree("t + d < 257"), (3, 4));
}

#[test]
fn what_a_launch_decides_is_not_known() {
    assert_eq!(counts("s[t] = 0.0; barrier; if t < n as index { s[255 - t] = 1.0; }"), (3, 3));
    assert_eq!(counts("s[t] = 0.0; if n < 256 && t == 0 { s[n] = 1.0; }"), (3, 3));
    assert_eq!(counts("s[t] = 0.0; if n <= 256 && t == 0 { s[n] = 1.0; }"), (2, 3));
    assert_eq!(counts("s[t] = 0.0; if t == 0 { s[n / 2] = 1.0; }"), (2, 3));
}
