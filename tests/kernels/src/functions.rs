//! Kernels that share functions and constants: generic ones, ones that call each
//! other, in loads, loop bounds and conditions.

use tile_runtime::tiled_kernel;

tiled_kernel! {
    /// What is left of a negative number.
    const SLOPE: f32 = 0.125;
    const REACH: index = 2;
    const WIDTH: index = 2 * REACH + 1;

    fn square<T: Number>(x: T) -> T {
        x * x
    }

    /// `x`, or a part of it where it is negative.
    fn leaky(x: f32) -> f32 {
        if x > 0.0 { x } else { SLOPE * x }
    }

    fn polynomial<T: Number>(x: T) -> T {
        let y = square(x);
        y * x + y + 1
    }

    fn last_before(n: index) -> index {
        max(n, 1) - 1
    }

    /// `x³ + x² + 1 − (x − 1)²`.
    pub fn shaped<T: Number>(x: &Tensor<T, [N]>, y: &mut Tensor<T, [N]>)
    where
        tile: (TN),
        grid: (bx in tiles(N, TN)),
        block: (tx in TN),
    {
        let i = bx * TN + tx;
        y[i] = polynomial(x[i]) - square(x[i] - 1);
    }

    /// Of the five leaky elements around each the sum of squares, bent where it is
    /// large; the last one stands for all beyond it.
    pub fn leaky_windows(x: &Tensor<f32, [N]>, y: &mut Tensor<f32, [N]>)
    where
        tile: (TN),
        grid: (bx in tiles(N, TN)),
        block: (tx in TN),
    {
        shared s: [f32; TN + WIDTH - 1];
        load s[j] = leaky(x[max(min(bx * TN + j - REACH, last_before(N)), 0)]);
        barrier;
        let mut sum: Acc<f32> = 0;
        for k in 0..WIDTH {
            sum += square(s[tx + k]);
        }
        let i = bx * TN + tx;
        y[i] = if sum > 1.0 && square(sum - 1.0) > 0.25 { leaky(1.0 - square(sum)) } else { sum };
    }

    /// One more than this: of a positive element twice the square of the step to the
    /// next one, of other multiples of 3 the square of the first element, else 0. The
    /// arms name what they use several times.
    pub fn named_arms<T: Number>(#[pad = 0] x: &Tensor<T, [N]>, y: &mut Tensor<T, [N]>)
    where
        tile: (TN),
        grid: (bx in tiles(N, TN)),
        block: (tx in TN),
    {
        let i = bx * TN + tx;
        let mut sum: Acc<T> = 1;
        sum += if x[i] > 0 {
            let step = x[i + 1] - x[i];
            let twice: T = 2 * step;
            step * twice
        } else if x[i] % 3 == 0 {
            let first = x[0];
            first * first
        } else {
            0
        };
        y[i] = sum as T;
    }
}
