//! The squared distances from each query to its K nearest points. A block has some
//! queries and walks over the points tile by tile; a work-item holds its query and the
//! K least distances so far, in order, in arrays of its own. A nearer point takes the
//! last place and moves up past those that are farther away.
//!
//! K and the number of coordinates are tile parameters: numbers when the kernel is
//! compiled, so that the arrays are registers, one kernel for each of those listed.
//! The shapes of the arguments say which.
//!
//! ```sh
//! cargo run --release --example gallery -- nearest 10000 1003
//! ```

use tile_runtime::{Device, Options, Tensor, tiled_kernel};

use crate::frame::{Cost, Entry, Failure, Prepared, close, floats};

tiled_kernel! {
    /// `distances[q]` are the K least squared distances of points to query q, rising;
    /// infinity where there are fewer points.
    pub fn nearest<T: Float>(
        #[pad = T::INFINITY] points: &Tensor<T, [P, D]>,
        queries: &Tensor<T, [Q, D]>,
        distances: &mut Tensor<T, [Q, K]>,
    )
    where
        tile: (TQ, TP, D in [2, 3, 4, 8, 16], K in [1, 4, 8, 16]),
        grid: (bx in tiles(Q, TQ)),
        block: (tx in TQ),
    {
        shared points_s: [T; TP, D];
        let q = bx * TQ + tx;
        let mut query: [T; D];
        for d in 0..D {
            query[d] = queries[q, d];
        }
        let mut least: [T; K] = [T::INFINITY; K];
        phase p in tiles(P, TP) {
            load points_s[j, d] = points[p * TP + j, d];
            barrier;
            for j in 0..TP {
                let mut distance: T = 0;
                for d in 0..D {
                    let apart = query[d] - points_s[j, d];
                    distance += apart * apart;
                }
                if distance < least[K - 1] {
                    least[K - 1] = distance;
                    for k in (1..K).rev() {
                        if least[k] < least[k - 1] {
                            let held = least[k];
                            least[k] = least[k - 1];
                            least[k - 1] = held;
                        }
                    }
                }
            }
            barrier;
        }
        for k in 0..K {
            distances[q, k] = least[k];
        }
    }
}

/// What the gallery runs.
pub const ENTRY: Entry = Entry {
    name: "nearest",
    about: "squared distances to the 8 nearest of many points in space",
    sizes: &["points", "queries"],
    small: &[&[1, 1], &[5, 3], &[300, 65], &[1000, 200]],
    full: &[1 << 16, 1 << 16],
    kernels: || vec![nearest::kernel::<f32>(), nearest::kernel::<f64>()],
    prepare: |device, sizes| Ok(Box::new(Points::new(device, sizes[0], sizes[1])?)),
};

/// Coordinates of a point.
const D: usize = 3;
/// Neighbours of a query.
const K: usize = 8;
/// Queries whose neighbours are looked for in the reference, so that it ends.
const SAMPLE: usize = 2000;

struct Points {
    points: Tensor<f32, 2>,
    queries: Tensor<f32, 2>,
    distances: Tensor<f32, 2>,
    expected: Vec<f64>,
}

impl Points {
    fn new(device: &Device, n_points: usize, n_queries: usize) -> Result<Self, Failure> {
        let (points, queries) = (floats(1, n_points * D)?, floats(2, n_queries * D)?);
        let mut expected = Vec::new();
        for query in queries.chunks(D).take(SAMPLE) {
            let apart = |(&a, &b): (&f32, &f32)| (f64::from(a) - f64::from(b)).powi(2);
            let distance = |point: &[f32]| query.iter().zip(point).map(apart).sum();
            let mut all: Vec<f64> = points.chunks(D).map(distance).collect();
            all.resize(n_points.max(K), f64::from(f32::MAX));
            all.select_nth_unstable_by(K - 1, f64::total_cmp);
            all.truncate(K);
            all.sort_by(f64::total_cmp);
            expected.extend(all);
        }
        Ok(Self {
            points: device.tensor([n_points, D], &points)?,
            queries: device.tensor([n_queries, D], &queries)?,
            distances: device.zeros([n_queries, K])?,
            expected,
        })
    }
}

impl Prepared for Points {
    fn launch(&mut self, options: &Options) -> tile_runtime::Result<()> {
        let configured = nearest::with(options.clone());
        configured.launch(&self.points, &self.queries, &mut self.distances)
    }

    fn verify(&self) -> Result<(), Failure> {
        // Infinitely far, where there are not enough points.
        let mut found: Vec<f32> =
            self.distances.to_vec()?.iter().map(|x| x.min(f32::MAX)).collect();
        found.truncate(self.expected.len());
        close("distances", &found, &self.expected, 1e-6)
    }

    fn cost(&self) -> Cost {
        let (points, queries) = (self.points.shape()[0] as f64, self.queries.shape()[0] as f64);
        // A difference, a product and a sum for each coordinate.
        Cost {
            bytes: 4.0 * (points + queries) * D as f64 + 4.0 * queries * K as f64,
            flops: 3.0 * D as f64 * points * queries,
        }
    }
}
