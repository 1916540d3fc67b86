use tile_runtime::tiled_kernel;

tiled_kernel! {
    pub fn k(alpha: f32, a: &Tensor<f32, [M, K]>, x: &Tensor<f32, [K]>, c: &mut Tensor<f32, [M]>)
    where tile: (TM, TK), grid: (by in tiles(M, TM)), block: (ty in TM),
    {
        shared s: [f32; TM, TK];
        let mut acc: Acc<f32> = 0;
        phase p in tiles(K, TK) {
            load s[i, k] = alpha * a[by * TM + i, p * TK + k];
            barrier;
            for k in 0..TK {
                if p * TK + k < K {
                    acc += s[ty, k] * x[p * TK + k];
                } else {
                    acc += s[ty, k];
                }
            }
            barrier;
        }
        c[by * TM + ty] = acc;
    }
}

fn main() {}
