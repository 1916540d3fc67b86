//! Launches in which a number of 32 bits may wrap: how far loops carry one.

use tile_ir::check::{Exact, Range};
use tile_ir::kernel::VarId;

use super::support::resolve;

/// How far the first number goes that may leave its type, with these values.
fn leaves(text: &str, values: &[(&str, i128)]) -> Option<Range> {
    let kernel = resolve(text);
    let value = |var: VarId| {
        let named = values.iter().find(|(name, _)| kernel.vars[var].name == *name);
        named.map(|(_, value)| *value)
    };
    Exact::of(&kernel).leaves(&kernel, &value).map(|(_, _, range)| range)
}

const ROWS: &str = "
    fn f(c: &mut Tensor<f32, [N]>, rows: i32, width: i32)
    where grid: (b in 4), block: (t in 64),
    {
        let mut row = (b * 64 + t) as i32;
        while row < rows {
            let at = row * width;
            c[at] = 1.0;
            row += 256;
        }
    }";

#[test]
fn counted_by_hand() {
    assert_eq!(leaves(ROWS, &[("N", 1), ("rows", 1 << 15), ("width", 1 << 16)]), None);
    let range = leaves(ROWS, &[("N", 1), ("rows", (1 << 15) + 1), ("width", 1 << 16)]);
    assert_eq!(range, Some((0, 1 << 31)));
    // A loop that is not run has no such number.
    assert_eq!(leaves(ROWS, &[("N", 1), ("rows", 0), ("width", i32::MAX.into())]), None);
}

const PLANES: &str = "
    fn f(c: &mut Tensor<f32, [N]>, plane: i32, planes: i32)
    where grid: (b in 4), block: (t in 64),
    {
        let mut at = (b * 64 + t) as i32;
        for k in 0..planes {
            c[at] = 1.0;
            at += plane;
        }
    }";

#[test]
fn carried_by_steps() {
    assert_eq!(leaves(PLANES, &[("N", 1), ("plane", 1 << 20), ("planes", 2000)]), None);
    let range = leaves(PLANES, &[("N", 1), ("plane", 1 << 20), ("planes", 2048)]);
    assert_eq!(range, Some((0, 255 + (1 << 31))));
    let range = leaves(PLANES, &[("N", 1), ("plane", -(1 << 20)), ("planes", 2049)]);
    assert_eq!(range, Some((-(1 << 31) - (1 << 20), 255)));
    assert_eq!(leaves(PLANES, &[("N", 1), ("plane", 1 << 30), ("planes", -5)]), None);
}

const STEPPED: &str = "
    fn f(c: &mut Tensor<f32, [N]>, n: i32, s: i32)
    where grid: (b in 4), block: (t in 64),
    {
        let mut i = (b * 64 + t) as i32;
        let mut at = (b * 64 + t) as i32;
        while i < n {
            c[at] = 1.0;
            at += 1000;
            i += s;
        }
    }";

#[test]
fn as_often_as_a_loop_is_run() {
    assert_eq!(leaves(STEPPED, &[("N", 1), ("n", 1_000_000), ("s", 1)]), None);
    let range = leaves(STEPPED, &[("N", 1), ("n", 3_000_000), ("s", 1)]);
    assert_eq!(range, Some((0, 255 + 3_000_001_000)));
    assert_eq!(leaves(STEPPED, &[("N", 1), ("n", 3_000_000), ("s", 256)]), None);
    // It is not known to end.
    assert!(leaves(STEPPED, &[("N", 1), ("n", 10), ("s", 0)]).is_some());
}
