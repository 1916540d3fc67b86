use tile_runtime::tiled_kernel;

tiled_kernel! {
    pub fn k<T: Element>(a: &Tensor<T, [B, C, H, W]>, c: &mut Tensor<T, [B, C, H, W]>)
    where tile: (TH, TW), grid: (b in B, ch in C, by in tiles(H, TH), bx in tiles(W, TW)), block: (ty in TH, tx in TW),
    {
        c[b, ch, by * TH + ty, bx * TW + tx] = a[b, ch, by * TH + ty, bx * TW + tx];
    }
}

fn main() {}
