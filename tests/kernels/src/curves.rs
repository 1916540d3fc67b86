//! Every function of the language, a row of the result for each.

use tile_runtime::tiled_kernel;

tiled_kernel! {
    /// Functions whose bits are the same on every device.
    pub fn exact_curves<T: Float>(
        x: &Tensor<T, [N]>,
        z: &Tensor<T, [N]>,
        y: &mut Tensor<T, [19, N]>,
        b: &mut Tensor<bool, [5, N]>,
    )
    where
        tile: (TN),
        grid: (bx in tiles(N, TN)),
        block: (tx in TN),
    {
        let i = bx * TN + tx;
        let u = x[i];
        let v = z[i];
        y[0, i] = abs(u);
        y[1, i] = u.sqrt();
        y[2, i] = rsqrt(u);
        y[3, i] = floor(u);
        y[4, i] = u.ceil();
        y[5, i] = u.round();
        y[6, i] = round_ties_even(u);
        y[7, i] = u.trunc();
        y[8, i] = fract(u);
        y[9, i] = u.signum();
        y[10, i] = u.copysign(v);
        y[11, i] = min(u, v);
        y[12, i] = u.max(v);
        y[13, i] = u.clamp(-1.5, 2.5);
        y[14, i] = powi(u, 5);
        y[15, i] = u.powi(-2);
        y[16, i] = (x[i] - v).recip();
        y[17, i] = u.rem_euclid(v);
        y[18, i] = u.div_euclid(v);
        b[0, i] = is_nan(x[i] + v);
        b[1, i] = u.is_infinite();
        b[2, i] = u.is_finite();
        b[3, i] = u.is_sign_negative();
        b[4, i] = is_sign_positive(u);
    }

    /// Fused: with one rounding in `f32` and `f64`.
    pub fn fused_curves<T: Float>(x: &Tensor<T, [N]>, z: &Tensor<T, [N]>, y: &mut Tensor<T, [3, N]>)
    where
        tile: (TN),
        grid: (bx in tiles(N, TN)),
        block: (tx in TN),
    {
        let i = bx * TN + tx;
        y[0, i] = x[i].mul_add(z[i], -1.0);
        y[1, i] = fma(x[i], x[i], z[i] * z[i]);
        y[2, i] = x[i].powi(2) + z[i];
    }

    /// Functions of each device's library.
    pub fn library_curves<T: Float>(
        x: &Tensor<T, [N]>,
        z: &Tensor<T, [N]>,
        y: &mut Tensor<T, [22, N]>,
    )
    where
        tile: (TN),
        grid: (bx in tiles(N, TN)),
        block: (tx in TN),
    {
        let i = bx * TN + tx;
        let u = x[i];
        let v = z[i];
        y[0, i] = exp(u);
        y[1, i] = log(u);
        y[2, i] = u.ln();
        y[3, i] = sin(u);
        y[4, i] = cos(u);
        y[5, i] = tanh(u);
        y[6, i] = exp2(u);
        y[7, i] = u.exp_m1();
        y[8, i] = log2(u);
        y[9, i] = u.log10();
        y[10, i] = ln_1p(u);
        y[11, i] = tan(u);
        y[12, i] = asin(u);
        y[13, i] = acos(u);
        y[14, i] = u.atan();
        y[15, i] = sinh(u);
        y[16, i] = cosh(u);
        y[17, i] = cbrt(u);
        y[18, i] = pow(u, v);
        y[19, i] = u.atan2(v);
        y[20, i] = hypot(u, v);
        y[21, i] = u.erf();
    }

    /// Functions of integers; the counts are `u32`.
    pub fn integer_curves<T: Integer>(
        a: &Tensor<T, [N]>,
        n: &Tensor<T, [N]>,
        y: &mut Tensor<T, [8, N]>,
        counts: &mut Tensor<u32, [7, N]>,
    )
    where
        tile: (TN),
        grid: (bx in tiles(N, TN)),
        block: (tx in TN),
    {
        let i = bx * TN + tx;
        let u = a[i];
        let v = n[i];
        y[0, i] = abs(u);
        y[1, i] = u.signum();
        y[2, i] = u.rem_euclid(v);
        y[3, i] = u.div_euclid(v);
        y[4, i] = if v > 0 { rem_euclid(a[i] + 1, n[i] + 1) } else { a[i].rem_euclid(3) };
        y[5, i] = u.pow(5);
        y[6, i] = u.clamp(2, 5);
        y[7, i] = u.reverse_bits();
        counts[0, i] = u.count_ones();
        counts[1, i] = leading_zeros(u);
        counts[2, i] = u.trailing_zeros();
        counts[3, i] = u.count_zeros();
        counts[4, i] = leading_ones(u);
        counts[5, i] = u.trailing_ones();
        counts[6, i] = if u.is_power_of_two() { 1 } else { 0 };
    }

    /// The bits in a circle, and the distance as an unsigned number.
    pub fn turned_words(
        a: &Tensor<i32, [N]>,
        b: &Tensor<u8, [N]>,
        places: &Tensor<u64, [N]>,
        words: &mut Tensor<i32, [2, N]>,
        bytes: &mut Tensor<u8, [3, N]>,
        apart: &mut Tensor<u32, [2, N]>,
    )
    where
        tile: (TN),
        grid: (bx in tiles(N, TN)),
        block: (tx in TN),
    {
        let i = bx * TN + tx;
        let n = places[i];
        words[0, i] = a[i].rotate_left(n);
        words[1, i] = rotate_right(a[i], i);
        bytes[0, i] = b[i].rotate_left(n + 1);
        bytes[1, i] = b[i].rotate_right(n);
        bytes[2, i] = b[i].abs_diff(b[0]);
        apart[0, i] = a[i].abs_diff(a[0]);
        apart[1, i] = i.abs_diff(N) as u32;
    }

    /// The elements of a ring: positions before the first and past the last.
    pub fn ring_differences(x: &Tensor<i32, [N]>, back: i32, y: &mut Tensor<i32, [N]>)
    where
        tile: (TN),
        grid: (bx in tiles(N, TN)),
        block: (tx in TN),
    {
        let i = bx * TN + tx;
        y[i] = x[i] - x[(i - back as index).rem_euclid(N)] + (i - back as index).div_euclid(N) as i32;
    }
}
