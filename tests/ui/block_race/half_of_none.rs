// errors: 4
use tile_runtime::tiled_kernel;

tiled_kernel! {
    pub fn k(half: u32, #[pad = 0] re: &mut Tensor<f32, [N]>, #[pad = 0] im: &mut Tensor<f32, [N]>)
    where tile: (T), grid: (bx in tiles(N, 2 * T)), block: (tx in T),
    {
        let h = half as index;
        let j = (bx * T + tx) % h;
        let i = (bx * T + tx) / h * (2 * h) + j;
        let xr = re[i + h] - im[i + h];
        let xi = re[i + h] + im[i + h];
        re[i + h] = re[i] - xr;
        im[i + h] = im[i] - xi;
        re[i] += xr;
        im[i] += xi;
    }
}

fn main() {}
