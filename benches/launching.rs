//! The host's part of a launch like an earlier one, on the CPU device: what is done
//! before anything is handed to a device, and with a small kernel in it.
//!
//! ```sh
//! cargo bench -p tile-benches --bench launching
//! ```

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use tile_runtime::{Device, Options, Tune};

fn launching(criterion: &mut Criterion) {
    let device = Device::cpu();
    for (name, n_elems) in [("a launch without a block", 0), ("a launch of 64 elements", 64)] {
        let (a, b) = (device.zeros([n_elems]), device.zeros([n_elems]));
        let (a, b) = (a.expect("there is memory"), b.expect("there is memory"));
        let mut c = device.zeros::<f32, 1>([n_elems]).expect("there is memory");
        criterion.bench_function(name, |bencher| {
            bencher.iter(|| {
                let launched = tile_kernels::add::launch(black_box(&a), black_box(&b), &mut c);
                launched.expect("it runs");
            });
        });
        let options = Options::new().tune(Tune::Off).tile("TN", 256);
        criterion.bench_function(&format!("{name}, with options"), |bencher| {
            bencher.iter(|| {
                let options = black_box(&options).clone();
                let launched = tile_kernels::add::with(options).launch(&a, &b, &mut c);
                launched.expect("it runs");
            });
        });
    }
}

criterion_group!(benches, launching);
criterion_main!(benches);
