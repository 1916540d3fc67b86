//! Kernels that resolve, printed with every conversion explicit.

use crate::support;
use expect_test::{Expect, expect};
use tile_ir::kernel::print_kernel;

#[track_caller]
fn check(text: &str, expected: Expect) {
    expected.assert_eq(&print_kernel(&support::resolve(text)));
}

#[test]
fn matmul() {
    check(
        "/// `c = a · b`, row-major, any shape.
        pub fn matmul<T: Number>(a: &Tensor<T, [M, K]>, b: &Tensor<T, [K, N]>, c: &mut Tensor<T, [M, N]>)
        where tile: (TM, TN, TK), grid: (by in tiles(M, TM), bx in tiles(N, TN)), block: (ty in TM, tx in TN),
        {
            shared a_s: [T; TM, TK];
            shared b_s: [T; TK, TN];
            let mut acc: Acc<T> = 0;
            phase p in tiles(K, TK) {
                load a_s[i, k] = a[by * TM + i, p * TK + k];
                load b_s[k, j] = b[p * TK + k, bx * TN + j];
                barrier;
                for k in 0..TK {
                    acc += a_s[ty, k] * b_s[k, tx];
                }
                barrier;
            }
            c[by * TM + ty, bx * TN + tx] = acc;
        }",
        expect![[r#"
            /// `c = a · b`, row-major, any shape.
            pub fn matmul<T: Number>(
                a: &Tensor<T, [M, K]>,
                b: &Tensor<T, [K, N]>,
                c: &mut Tensor<T, [M, N]>,
            )
            where
                tile: (TM, TN, TK),
                grid: (by in tiles(M, TM), bx in tiles(N, TN)),
                block: (ty in TM, tx in TN),
            {
                shared a_s: [T; TM, TK];
                shared b_s: [T; TK, TN];
                let mut acc: Acc<T> = 0;
                phase p in tiles(K, TK) {
                    load a_s[i, k] = a[by * TM + i, p * TK + k];
                    load b_s[k, j] = b[p * TK + k, bx * TN + j];
                    barrier;
                    for k in 0..TK {
                        acc += a_s[ty, k] as Acc<T> * b_s[k, tx] as Acc<T>;
                    }
                    barrier;
                }
                c[by * TM + ty, bx * TN + tx] = acc as T;
            }
        "#]],
    );
}

#[test]
fn transpose() {
    check(
        "pub fn transpose<T: Element>(a: &Tensor<T, [R, C]>, b: &mut Tensor<T, [C, R]>)
        where tile: (TR, TC), grid: (by in tiles(R, TR), bx in tiles(C, TC)),
        {
            shared s: [T; TR, TC];
            load s[i, j] = a[by * TR + i, bx * TC + j];
            barrier;
            each (j, i) in (TC, TR) {
                b[bx * TC + j, by * TR + i] = s[i, j];
            }
        }",
        expect![[r#"
            pub fn transpose<T: Element>(
                a: &Tensor<T, [R, C]>,
                b: &mut Tensor<T, [C, R]>,
            )
            where
                tile: (TR, TC),
                grid: (by in tiles(R, TR), bx in tiles(C, TC)),
            {
                shared s: [T; TR, TC];
                load s[i, j] = a[by * TR + i, bx * TC + j];
                barrier;
                each (j, i) in (TC, TR) {
                    b[bx * TC + j, by * TR + i] = s[i, j];
                }
            }
        "#]],
    );
}

#[test]
fn headers() {
    check(
        "fn f<T: Float>(alpha: T, n: i32, #[pad = T::INFINITY] a: &Tensor<T, [N, 2 * N, 64, F]>, b: &mut Tensor<T, [N]>)
        where tile: (A in 16..=256 step 16, B in pow2(32..=256), C in [128, 64, 64], D in 1..=4, F = 3, E = A, G = A + 2 * F, A % B == 0 && G < 512),
            grid: (z in N, y in tiles(N, A), x in 4), block: (ty in A, tx in G - 2),
        { b[z] = a[ty, tx, y, x] * alpha; }",
        expect![[r#"
            pub fn f<T: Float>(
                alpha: T,
                n: i32,
                #[pad = T::INFINITY] a: &Tensor<T, [N, 2 * N, 64, F]>,
                b: &mut Tensor<T, [N]>,
            )
            where
                tile: (A in 16..=256 step 16, B in pow2(32..=256), C in [64, 128], D in 1..=4, F = 3, E = A, G = A + 2 * F, A % B == 0 && G < 512),
                grid: (z in N, y in tiles(N, A), x in 4),
                block: (ty in A, tx in G - 2),
            {
                b[z] = a[ty, tx, y, x] * alpha;
            }
        "#]],
    );
}

#[test]
fn literals_take_the_type_they_are_used_at() {
    check(
        "fn f<T: Float>(x: &Tensor<f32, [N]>, h: &mut Tensor<f16, [N]>, y: &mut Tensor<T, [N]>)
        where tile: (TN), grid: (bx in tiles(N, TN)), block: (tx in TN),
        {
            let mut st = 8;
            let mut big = 0;
            let mut best = 2;
            let plain = 7;
            let half = 0.5;
            let small = -128i8;
            let cast = 3 as f64;
            let late;
            while st > 0 {
                big = max(big, x[tx + st] * 2 - 1);
                st /= 2;
            }
            late = big;
            best = best * y[tx];
            h[tx] = 1.5;
            y[tx] = if late < 0 { best } else { 2 };
        }",
        expect![[r#"
            pub fn f<T: Float>(
                x: &Tensor<f32, [N]>,
                h: &mut Tensor<f16, [N]>,
                y: &mut Tensor<T, [N]>,
            )
            where
                tile: (TN),
                grid: (bx in tiles(N, TN)),
                block: (tx in TN),
            {
                let mut st: index = 8;
                let mut big: f32 = 0;
                let mut best: T = 2;
                let plain: i32 = 7;
                let half: f32 = 0.5;
                let small: i8 = -128;
                let cast: f64 = 3;
                let late: f32;
                while st > 0 {
                    big = max(big, x[tx + st] * 2 - 1);
                    st /= 2;
                }
                late = big;
                best = best * y[tx];
                h[tx] = 1.5;
                y[tx] = if late < 0 { best } else { 2 };
            }
        "#]],
    );
}

#[test]
fn integers_become_indices_where_one_is_needed() {
    check(
        "fn f(n: i32, ind: &Tensor<u32, [N]>, a: &Tensor<f32, [M]>, c: &mut Tensor<f32, [N]>)
        where tile: (TN), grid: (bx in tiles(N, TN)), block: (tx in TN),
        {
            let i = bx * TN + tx;
            let mut sum = 0.0;
            for j in 0..n {
                if j + 1 < n && i >= 0 && n > i { sum += a[ind[i] + j + n]; }
            }
            for j in (1..=ind[i]).step_by(2).rev() { sum += j as f32; }
            for j in tiles(n, 4) { sum += a[j]; }
            for s in halving(TN) { sum += a[s >> n]; }
            for s in doubling(TN) { sum += a[s & 3 | 1 << 2]; }
            c[i] = sum;
        }",
        expect![[r#"
            pub fn f(
                n: i32,
                ind: &Tensor<u32, [N]>,
                a: &Tensor<f32, [M]>,
                c: &mut Tensor<f32, [N]>,
            )
            where
                tile: (TN),
                grid: (bx in tiles(N, TN)),
                block: (tx in TN),
            {
                let i: index = bx * TN + tx;
                let mut sum: f32 = 0.0;
                for j in 0..n as index {
                    if j + 1 < n as index && i >= 0 && n as index > i {
                        sum += a[ind[i] as index + j + n as index];
                    }
                }
                for j in (1..ind[i] as index + 1).step_by(2).rev() {
                    sum += j as f32;
                }
                for j in tiles(n as index, 4) {
                    sum += a[j];
                }
                for s in halving(TN) {
                    sum += a[s >> n as index];
                }
                for s in doubling(TN) {
                    sum += a[s & 3 | 1 << 2];
                }
                c[i] = sum;
            }
        "#]],
    );
}

#[test]
fn counters_between_integers_are_values() {
    check(
        "fn f(a: &Tensor<i32, [N]>, c: &mut Tensor<i32, [N]>, d: &mut Tensor<u8, [N]>, n: i32) where tile: (TN), grid: (bx in tiles(N, TN)), block: (tx in TN),
        {
            let mut s = 0;
            for k in 1..n - 1 {
                s += a[k] * (2 * k + 1);
                for j in k..=n { s = s + if a[j] == j { j } else { a[k] - j }; }
                c[k] = k;
            }
            for k in 0..16 { s += k * a[k]; d[k] = k; }
            c[bx * TN + tx] = s;
        }",
        expect![[r#"
            pub fn f(
                a: &Tensor<i32, [N]>,
                c: &mut Tensor<i32, [N]>,
                d: &mut Tensor<u8, [N]>,
                n: i32,
            )
            where
                tile: (TN),
                grid: (bx in tiles(N, TN)),
                block: (tx in TN),
            {
                let mut s: i32 = 0;
                for k in 1..n as index - 1 {
                    s += a[k] * (2 * k as i32 + 1);
                    for j in k..n as index + 1 {
                        s = s + (if a[j] as index == j { j as i32 } else { a[k] - j as i32 });
                    }
                    c[k] = k as i32;
                }
                for k in 0..16 {
                    s += k as i32 * a[k];
                    d[k] = k as u8;
                }
                c[bx * TN + tx] = s;
            }
        "#]],
    );
}

#[test]
fn what_is_made_of_bounds_of_one_type_counts_in_it() {
    check(
        "fn f(a: &Tensor<i32, [N]>, c: &mut Tensor<i32, [N]>, n: i32, m: i32) where tile: (TN), grid: (bx in tiles(N, TN)), block: (tx in TN),
        {
            let mut s = a[0];
            for k in 0..n / 2 { s += k; }
            for k in -n..=n { s += -k * a[k]; }
            for k in n.min(m)..max(n, 7) { s += k; }
            for k in 0..if n > m { n } else { m >> 1 } { s += k; }
            c[bx * TN + tx] = s;
        }",
        expect![[r#"
            pub fn f(
                a: &Tensor<i32, [N]>,
                c: &mut Tensor<i32, [N]>,
                n: i32,
                m: i32,
            )
            where
                tile: (TN),
                grid: (bx in tiles(N, TN)),
                block: (tx in TN),
            {
                let mut s: i32 = a[0];
                for k in 0..n as index / 2 {
                    s += k as i32;
                }
                for k in -(n as index)..n as index + 1 {
                    s += -(k as i32) * a[k];
                }
                for k in min(n as index, m as index)..max(n as index, 7) {
                    s += k as i32;
                }
                for k in 0..(if n > m { n as index } else { m as index >> 1 }) {
                    s += k as i32;
                }
                c[bx * TN + tx] = s;
            }
        "#]],
    );
}

#[test]
fn accumulators_widen_and_round() {
    check(
        "fn f<T: Number>(a: &Tensor<T, [N]>, h: &Tensor<f16, [N]>, c: &mut Tensor<T, [N]>, d: &mut Tensor<f16, [N]>, e: &mut Tensor<f16, [N]>)
        where tile: (TN), grid: (bx in tiles(N, TN)), block: (tx in TN),
        {
            shared part: [Acc<T>; TN];
            let mut acc: Acc<T> = 0;
            let mut low: Acc<T> = T::MAX as Acc<T>;
            let mut wide: Acc<f16> = 0.0;
            let x = a[tx] - 1;
            acc += x * x + abs(a[tx]) + if tx < 3 { x } else { 2 };
            low = min(low, x + a[tx]);
            low = x.max(low);
            wide += h[tx] * h[tx];
            part[tx] = acc;
            part[tx] += x;
            c[tx] = acc + 1;
            d[tx] = wide * 2;
            e[tx] = wide as f16;
        }",
        expect![[r#"
            pub fn f<T: Number>(
                a: &Tensor<T, [N]>,
                h: &Tensor<f16, [N]>,
                c: &mut Tensor<T, [N]>,
                d: &mut Tensor<f16, [N]>,
                e: &mut Tensor<f16, [N]>,
            )
            where
                tile: (TN),
                grid: (bx in tiles(N, TN)),
                block: (tx in TN),
            {
                shared part: [Acc<T>; TN];
                let mut acc: Acc<T> = 0;
                let mut low: Acc<T> = T::MAX as Acc<T>;
                let mut wide: Acc<f32> = 0.0;
                let x: T = a[tx] - 1;
                acc += x as Acc<T> * x as Acc<T> + abs(a[tx] as Acc<T>) + (if tx < 3 { x as Acc<T> } else { 2 });
                low = min(low, x as Acc<T> + a[tx] as Acc<T>);
                low = max(low, x as Acc<T>);
                wide += h[tx] as f32 * h[tx] as f32;
                part[tx] = acc;
                part[tx] += x as Acc<T>;
                c[tx] = (acc + 1) as T;
                d[tx] = (wide * 2) as f16;
                e[tx] = wide as f16;
            }
        "#]],
    );
}

#[test]
fn precedence_is_kept() {
    check(
        "fn f(m: i32, a: &Tensor<i32, [N]>, c: &mut Tensor<i32, [N]>)
        where grid: (bx in N),
        {
            let x = (a[bx] + 1) * -(m - 2) - (m - (a[bx] - 3));
            let y = (x as i64) << 3 >> (m as u8) << bx;
            let z = !(x & 7 ^ m | 1) % 5;
            let b = (x as f32) < 1.0 && (m == 2 || !(z != 3)) && in_bounds(a[bx - 1]);
            let w = (if b { x } else { z }) + min(x, -z).abs();
            c[bx] = w + y as i32 + b as i32;
        }",
        expect![[r#"
            pub fn f(
                m: i32,
                a: &Tensor<i32, [N]>,
                c: &mut Tensor<i32, [N]>,
            )
            where
                grid: (bx in N),
            {
                let x: i32 = (a[bx] + 1) * -(m - 2) - (m - (a[bx] - 3));
                let y: i64 = ((x as i64) << 3 >> m as u8 as i64) << bx as i64;
                let z: i32 = !(x & 7 ^ m | 1) % 5;
                let b: bool = (x as f32) < 1.0 && (m == 2 || !(z != 3)) && in_bounds(a[bx - 1]);
                let w: i32 = (if b { x } else { z }) + abs(min(x, -z));
                c[bx] = w + y as i32 + b as i32;
            }
        "#]],
    );
}

#[test]
fn names_shadow_as_in_rust() {
    check(
        "fn f(a: &Tensor<f32, [N]>, c: &mut Tensor<f32, [N]>)
        where tile: (T), grid: (bx in tiles(N, T)),
        {
            let x = 1.0;
            let x = x + 1.0;
            {
                let x = true;
                if x { barrier; }
                shared s: [f32; T];
                load s[i] = a[bx * T + i];
            }
            each i in T { let x = x * 2.0; c[bx * T + i] = x; }
        }",
        expect![[r#"
            pub fn f(
                a: &Tensor<f32, [N]>,
                c: &mut Tensor<f32, [N]>,
            )
            where
                tile: (T),
                grid: (bx in tiles(N, T)),
            {
                shared s: [f32; T];
                let x: f32 = 1.0;
                let x_2: f32 = x + 1.0;
                let x_3: bool = true;
                if x_3 {
                    barrier;
                }
                load s[i] = a[bx * T + i];
                each i in T {
                    let x_4: f32 = x_2 * 2.0;
                    c[bx * T + i] = x_4;
                }
            }
        "#]],
    );
}
