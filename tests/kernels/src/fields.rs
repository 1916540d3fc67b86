//! Kernels whose elements are made of many neighbours: distances between points,
//! the convolution of an image, the seven-point stencil of a volume.

use tile_runtime::tiled_kernel;

tiled_kernel! {
    /// `d[i, j]` is the squared distance of the points `x[i]` and `y[j]`.
    pub fn squared_distances<T: Number>(
        x: &Tensor<T, [M, K]>,
        y: &Tensor<T, [N, K]>,
        d: &mut Tensor<T, [M, N]>,
    )
    where
        tile: (TM, TN, TK),
        grid: (by in tiles(M, TM), bx in tiles(N, TN)),
        block: (ty in TM, tx in TN),
    {
        shared x_s: [T; TM, TK];
        shared y_s: [T; TN, TK];
        let mut sum: T = 0;

        phase p in tiles(K, TK) {
            load x_s[i, k] = x[by * TM + i, p * TK + k];
            load y_s[j, k] = y[bx * TN + j, p * TK + k];
            barrier;
            for k in 0..TK {
                let difference = x_s[ty, k] - y_s[tx, k];
                sum += difference * difference;
            }
            barrier;
        }
        d[by * TM + ty, bx * TN + tx] = sum;
    }
}

tiled_kernel! {
    /// `b[i, j] = sum over u, v of a[i + u - 2, j + v - 2] * filter[u, v]`; 0 outside
    /// of the image.
    pub fn convolve<T: Number>(
        #[pad = 0] a: &Tensor<T, [R, C]>,
        filter: &Tensor<T, [5, 5]>,
        b: &mut Tensor<T, [R, C]>,
    )
    where
        tile: (TR, TC),
        grid: (by in tiles(R, TR), bx in tiles(C, TC)),
        block: (ty in TR, tx in TC),
    {
        shared s: [T; TR + 4, TC + 4];
        shared f: [T; 5, 5];
        load s[i, j] = a[by * TR + i - 2, bx * TC + j - 2];
        load f[u, v] = filter[u, v];
        barrier;
        let mut sum: T = 0;
        for u in 0..5 {
            for v in 0..5 {
                sum += s[ty + u, tx + v] * f[u, v];
            }
        }
        b[by * TR + ty, bx * TC + tx] = sum;
    }
}

tiled_kernel! {
    /// `b = center * a + side * (its six neighbours)`; 0 outside of the volume. A
    /// block goes through TD planes: each work-item keeps its column's element of
    /// the plane before, of this one and of the next.
    pub fn seven_point<T: Number>(
        center: T,
        side: T,
        #[pad = 0] a: &Tensor<T, [D, R, C]>,
        b: &mut Tensor<T, [D, R, C]>,
    )
    where
        tile: (TD in 1..=64, TR, TC),
        grid: (bz in tiles(D, TD), by in tiles(R, TR), bx in tiles(C, TC)),
        block: (ty in TR, tx in TC),
    {
        shared s: [T; TR + 2, TC + 2];
        let mut above = a[bz * TD - 1, by * TR + ty, bx * TC + tx];
        let mut here = a[bz * TD, by * TR + ty, bx * TC + tx];
        for z in 0..TD {
            load s[r, c] = a[bz * TD + z, by * TR + r - 1, bx * TC + c - 1];
            barrier;
            let below = a[bz * TD + z + 1, by * TR + ty, bx * TC + tx];
            let across = s[ty + 1, tx] + s[ty + 1, tx + 2];
            let along = s[ty, tx + 1] + s[ty + 2, tx + 1];
            let around = (above + below) + (across + along);
            b[bz * TD + z, by * TR + ty, bx * TC + tx] = center * here + side * around;
            above = here;
            here = below;
            barrier;
        }
    }
}
