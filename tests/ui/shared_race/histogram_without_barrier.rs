use tile_runtime::tiled_kernel;

tiled_kernel! {
    pub fn k(counts: &mut Tensor<u32, [N]>)
    where tile: (TN, F = 64), grid: (bx in tiles(N, TN)), block: (tx in TN),
    {
        shared own: [u32; F];
        each b in F { own[b] = 0; }
        barrier;
        atomic own[tx % F] += 1;
        each b in F {
            atomic counts[b] += own[b];
        }
    }
}

fn main() {}
// errors: 2
