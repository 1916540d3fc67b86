//! Launches in which a number of 32 bits may wrap: how far loops carry one.

use tile_ir::check::{Exact, Range, check_kernel};
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

const FLIPPED: &str = "
    fn f(c: &mut Tensor<f32, [N]>, w: u32, h: u32)
    where tile: (GY, GX), grid: (by in GY, bx in GX), block: (y in 8, x in 32),
    {
        let i = bx as u32 * 32 + x as u32;
        let j = by as u32 * 8 + y as u32;
        if i < w && j < h {
            let at = (h - 1 - j) * w + i;
            c[at] = 1.0;
        }
    }";

#[test]
fn made_of_differences_above_zero() {
    assert!(check_kernel(resolve(FLIPPED)).is_ok());
    let launch = |w: i128, h: i128| [("N", 1), ("GY", 1), ("GX", 1), ("w", w), ("h", h)];
    // Of an image without rows there is no difference.
    assert_eq!(leaves(FLIPPED, &launch(1 << 16, 0)), None);
    assert_eq!(leaves(FLIPPED, &launch(1 << 16, 1 << 16)), None);
    assert_eq!(
        leaves(FLIPPED, &launch(1 << 16, (1 << 16) + 1)),
        Some((((1 << 16) - 7) << 16, 1 << 32))
    );
}

const SWIZZLED: &str = "
    fn f(c: &mut Tensor<f32, [N]>, pitch: i32)
    where grid: (b in 4), block: (y in 8, x in 24),
    {
        assume(pitch >= 32);
        let row = b as i32 * 8 + y as i32;
        let at = row * pitch + (x as i32 ^ y as i32);
        c[at] = 1.0;
    }";

#[test]
fn made_of_bits() {
    assert!(check_kernel(resolve(SWIZZLED)).is_ok());
    let most = (i128::from(i32::MAX) - 31) / 31;
    assert_eq!(leaves(SWIZZLED, &[("N", 1), ("pitch", most)]), None);
    let range = leaves(SWIZZLED, &[("N", 1), ("pitch", most + 1)]);
    assert_eq!(range, Some((0, 31 * (most + 1) + 31)));
}

const DOUBLED: &str = "
    fn f(o: &mut Tensor<i32, [M]>, n: i32)
    where grid: (b in 1), block: (t in 64),
    {
        let mut k = 1;
        for r in 0..n {
            o[t * k] = r;
            barrier;
            k *= 2;
        }
    }";

#[test]
fn indices_that_rounds_multiply() {
    assert_eq!(leaves(DOUBLED, &[("M", 1), ("n", 57)]), None);
    assert_eq!(leaves(DOUBLED, &[("M", 1), ("n", 58)]), Some((0, 63 << 58)));
    assert_eq!(leaves(DOUBLED, &[("M", 1), ("n", -3)]), None);
    // In few steps of many.
    let strided = DOUBLED.replace("0..n", "(0..n).step_by(64)");
    assert_eq!(leaves(&strided, &[("M", 1), ("n", 57 * 64)]), None);
    // One that begins anew in each round.
    let anew = DOUBLED.replace("let mut k = 1;", "").replace("o[t", "let mut k = 1; o[t");
    assert_eq!(leaves(&anew, &[("M", 1), ("n", 1 << 20)]), None);
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

const SHIFTED: &str = "
    fn f(c: &mut Tensor<f32, [N]>, s: u32)
    where grid: (b in 4), block: (t in 64),
    {
        c[(b * 64 + t) << s] = 1.0;
    }";

#[test]
fn an_index_is_shifted_within_64_bits() {
    assert_eq!(leaves(SHIFTED, &[("N", 1), ("s", 55)]), None);
    assert_eq!(leaves(SHIFTED, &[("N", 1), ("s", 56)]), Some((0, 255 << 56)));
    // Counts begin again from 0.
    assert!(leaves(SHIFTED, &[("N", 1), ("s", 64)]).is_some());
}

const MULTIPLIED: &str = "
    fn f(c: &mut Tensor<f32, [N]>, k: i64)
    where block: (t in 64),
    {
        if k > 0 { c[t * (k as index)] = 1.0; }
    }";

#[test]
fn an_index_is_multiplied_within_64_bits() {
    assert_eq!(leaves(MULTIPLIED, &[("N", 1), ("k", 1 << 57)]), None);
    assert_eq!(leaves(MULTIPLIED, &[("N", 1), ("k", 1 << 58)]), Some((0, 63 << 58)));
}

const VOLUME: &str = "
    fn f(a: &Tensor<f32, [D, H, W]>, c: &mut Tensor<f32, [L]>)
    where grid: (z in D, y in H), block: (t in 64),
    {
        for k in 0..tiles(W, 64) {
            let x = k * 64 + t;
            if x < W { c[(z * H + y) * W + x] = a[z, y, x]; }
        }
    }";

#[test]
fn dimensions_alone_are_asked_where_they_are_far() {
    let of = |d: i128, h: i128, w: i128| leaves(VOLUME, &[("D", d), ("H", h), ("W", w), ("L", 1)]);
    assert_eq!(of(1 << 10, 1 << 12, 1 << 12), None);
    assert_eq!(of(1 << 8, 1, 1 << 40), None);
    assert!(of(1 << 33, 1 << 33, 1).is_some());
}

const HAND: &str = "
    fn f(c: &mut Tensor<f32, [N]>, n: i32)
    where block: (t in 1000),
    {
        let mut i = t as i32;
        let rounded = ((n - 1) / 1000 + 1) * 1000;
        while i < rounded {
            if i < n { c[i] = 1.0; }
            barrier;
            i += 1000;
        }
    }";

#[test]
fn agreed_on_where_nothing_wraps() {
    // All run as many rounds, unless some go on from below 0.
    let kernel = check_kernel(resolve(HAND)).expect("it is accepted").kernel;
    let kernel = kernel.kernel();
    let exact = Exact::of(kernel);
    let leaves = |n: i128| {
        let value = |var: VarId| match kernel.vars[var].name.as_str() {
            "N" => Some(1),
            "n" => Some(n),
            _ => None,
        };
        exact.leaves(kernel, &value).is_some()
    };
    assert!(!leaves(1 << 30));
    assert!(leaves(2_147_483_000));
    assert!(leaves(i128::from(i32::MAX)));
}

/// A number that goes on by steps, and what is made of it.
fn stepped(start: &str, by: &str, used: &str) -> String {
    format!(
        "fn f(c: &mut Tensor<i32, [N]>, start: {start}, by: {by}) where block: (t in 64),
        {{ shared s: [i32; 48]; let mut h = start; for k in 0..4 {{ {used} h += by; }} c[t] = 1; }}"
    )
}

#[test]
fn steps_that_are_only_compared_or_masked() {
    let uses = ["if h < start { s[0] = 1; }", "s[h % 48] = 1;", "if h & 1 == 0 { barrier; }"];
    for used in uses {
        let unsigned = stepped("u32", "u32", used);
        let max = i128::from(u32::MAX);
        assert_eq!(leaves(&unsigned, &[("N", 1), ("start", max - 8), ("by", 2)]), None, "{used}");
        let range = leaves(&unsigned, &[("N", 1), ("start", max - 7), ("by", 2)]);
        assert_eq!(range, Some((max - 7, max + 1)), "{used}");
        let signed = stepped("i32", "i32", used);
        assert!(leaves(&signed, &[("N", 1), ("start", 0), ("by", 1 << 30)]).is_some(), "{used}");
    }
}

#[test]
fn indices_that_go_on_by_steps() {
    let text = "fn f(c: &mut Tensor<i32, [N]>, by: i64) where block: (t in 64),
        { let mut x = t; for k in 0..8 { c[x] = 1; x += by as index; } }";
    assert_eq!(leaves(text, &[("N", 1), ("by", 1 << 59)]), None);
    assert!(leaves(text, &[("N", 1), ("by", 1 << 60)]).is_some());
}

#[test]
fn what_wraps_by_its_literals_is_not_asked() {
    let of = |block: &str| {
        format!(
            "fn f(a: &mut Tensor<i32, [N]>, n: i32) where block: (t in {block}),
            {{ let i: i32 = t as i32 * 1073741824; a[i] = n; let j: i32 = t as i32 * n; a[j] = 1; }}"
        )
    };
    let names = |n: i128| [("N", 1), ("n", n)];
    assert_eq!(leaves(&of("2"), &names(1 << 20)), None);
    assert_eq!(leaves(&of("64"), &names(1 << 20)), None);
    // The launch decides how far the other one goes.
    let range = Some((0, 63 << 30));
    assert_eq!(leaves(&of("64"), &names(1 << 30)), range);
}

/// A place that a remainder by `w` is taken of.
fn left_of(place: &str, by: &str) -> String {
    format!(
        "fn f(c: &mut Tensor<i32, [N]>, x: u32, w: u32, n: u32) where block: (t in 64),
        {{ let at = ({place}) % {by}; c[at] = 1; }}"
    )
}

#[test]
fn places_beside_the_length_that_they_go_round() {
    let max = i128::from(u32::MAX);
    let names = |x: i128| [("N", 1), ("x", x), ("w", 100), ("n", 7)];
    let before = left_of("x + w - 1", "w");
    assert_eq!(leaves(&before, &names(max - 100)), None);
    assert_eq!(leaves(&before, &names(max - 99)), Some((max + 1, max + 1)));
    // Of no length it may be below 0.
    assert_eq!(leaves(&before, &[("N", 1), ("x", 0), ("w", 0), ("n", 7)]), None);
    let of_literals = left_of("x + 599", "600");
    assert!(leaves(&of_literals, &names(max - 598)).is_some());
    // So is any other place further round.
    assert_eq!(leaves(&left_of("x + n", "w"), &names(max - 7)), None);
    assert_eq!(leaves(&left_of("x + n", "w"), &names(max)), Some((max + 7, max + 7)));
    // What is multiplied may be a hash.
    assert_eq!(leaves(&left_of("x * n + 1", "w"), &names(max)), None);
    assert_eq!(leaves(&left_of("x * 2654435769 + w", "w"), &names(max)), None);
}

#[test]
fn places_in_rows() {
    let text = "fn f(c: &mut Tensor<i32, [N, M]>, x: u32, w: u32, n: u32) where block: (t in 64),
        { let column = (x + n) % w; let row = (x + n) / w; c[row, column] = 1; }";
    let names = |x: i128| [("N", 1), ("M", 1), ("x", x), ("w", 100), ("n", 7)];
    let max = i128::from(u32::MAX);
    assert_eq!(leaves(text, &names(max - 7)), None);
    assert_eq!(leaves(text, &names(max - 6)), Some((max + 1, max + 1)));
}
