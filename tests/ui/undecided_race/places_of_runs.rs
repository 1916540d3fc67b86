use tile_runtime::tiled_kernel;

tiled_kernel! {
    pub fn merge(keys: &Tensor<i32, [R, 64]>, c: &mut Tensor<i32, [R, 64]>)
    where grid: (by in R), block: (tx in 64),
    {
        shared s: [i32; 64];
        s[tx] = keys[by, tx];
        barrier;
        let mut before = 0;
        for k in 0..32 {
            if s[(tx / 32 * 32 ^ 32) + k] < s[tx] { before += 1; }
        }
        c[by, tx % 32 + before] = s[tx];
    }
}

fn main() {}
