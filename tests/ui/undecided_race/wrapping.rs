use tile_runtime::tiled_kernel;

tiled_kernel! {
    pub fn fill(o: &mut Tensor<f32, [N]>, first: &Tensor<u32, [1]>, end: u32)
    where grid: (bx in 1), block: (tx in 96),
    {
        let mut i = first[0] + tx as u32;
        while i < end {
            o[i] = 1.0;
            i += 96;
        }
    }
}

fn main() {}
