// errors: 4
use tile_runtime::tiled_kernel;

tiled_kernel! {
    pub fn k(a: &Tensor<f32, [N]>, c: &mut Tensor<f32, [N]>)
    where tile: (TN), grid: (bx in tiles(N, TN)), block: (tx in TN),
    {
        let i = bx * TN + tx;
        let sum = if a[i] > 0.0 {
            let mut sum = 0.0;
            for k in 0..3 { sum += a[k]; }
            sum
        } else { 0.0 };
        let last = if a[i] > 1.0 { let x = a[i]; } else { 0.0 };
        let first = if a[i] > 2.0 { let x = a[i]; x; } else { 0.0 };
        let square = if a[i] > 3.0 { let x: [f32; 2] = [0.0; 2]; x[0] } else { 0.0 };
        c[i] = sum + last + first + square;
    }
}

fn main() {}
