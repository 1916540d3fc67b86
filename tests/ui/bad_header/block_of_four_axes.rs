use tile_runtime::tiled_kernel;

tiled_kernel! {
    pub fn k<T: Element>(a: &Tensor<T, [4, 4, 4, 4]>, c: &mut Tensor<T, [4, 4, 4, 4]>)
    where grid: (bx in 1), block: (tw in 4, tz in 4, ty in 4, tx in 4),
    {
        c[tw, tz, ty, tx] = a[tw, tz, ty, tx];
    }
}

fn main() {}
