// errors: 5
use tile_runtime::tiled_kernel;

tiled_kernel! {
    fn power(x: f32, n: i32) -> f32 {
        let mut y = 1.0;
        for k in 0..n {
            y *= x;
        }
        y
    }

    fn absolute(x: f32) -> f32 {
        return x.abs();
    }

    pub fn half(x: f32) -> f32 {
        x / 2.0
    }

    fn nothing(x: f32) -> f32 {
        x + 1.0;
    }

    fn waits(x: f32) -> f32 {
        barrier;
        x
    }

    pub fn k(a: &Tensor<f32, [N]>, c: &mut Tensor<f32, [N]>)
    where tile: (TN), grid: (bx in tiles(N, TN)), block: (tx in TN),
    {
        let i = bx * TN + tx;
        c[i] = power(a[i], 3);
    }
}

fn main() {}
