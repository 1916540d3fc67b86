//! The kernels whose headers say more than a tile's name, on the CPU device against
//! plain loops.

use tile_kernels::{halved_rows, mirrored_boxes, one_block, tied_product, window_sums};
use tile_runtime::{Device, Options, Tensor};

fn numbers(n: usize) -> Vec<i32> {
    (0..n).map(|i| ((i * 37 + 11) % 101) as i32 - 50).collect()
}

fn poisoned<const R: usize>(dev: &Device, shape: [usize; R]) -> Tensor<i32, R> {
    dev.tensor(shape, &vec![i32::MIN; shape.iter().product()]).unwrap()
}

#[test]
fn listed_sizes_and_a_derived_one() {
    let dev = Device::cpu();
    for n in [0, 1, 15, 16, 47, 100] {
        let x = numbers(n);
        let expected: Vec<i32> =
            (0..n).map(|i| x[i.saturating_sub(2)..(i + 3).min(n)].iter().sum()).collect();
        let x = dev.tensor([n], &x).unwrap();
        for options in [Options::new(), Options::new().tile("T", 16), Options::new().tile("T", 48)]
        {
            let mut c = poisoned(&dev, [n]);
            window_sums::with(options).launch(&x, &mut c).unwrap();
            assert_eq!(c.to_vec().unwrap(), expected, "{n} numbers");
        }
    }
    let x = dev.tensor([4], &numbers(4)).unwrap();
    let mut c = poisoned(&dev, [4]);
    let error = window_sums::with(Options::new().tile("T", 32)).launch(&x, &mut c).unwrap_err();
    assert!(error.to_string().contains("[16, 48]"), "{error}");
}

#[test]
fn ties_and_constraints() {
    let dev = Device::cpu();
    let (m, k, n) = (13, 21, 30);
    let (a, b) = (numbers(m * k), numbers(k * n));
    let at = |i: usize, j: usize| (0..k).map(|p| a[i * k + p] * b[p * n + j]).sum();
    let expected: Vec<i32> = (0..m * n).map(|at_| at(at_ / n, at_ % n)).collect();
    let (a, b) = (dev.tensor([m, k], &a).unwrap(), dev.tensor([k, n], &b).unwrap());
    let run = |options: Options| {
        let mut c = poisoned(&dev, [m, n]);
        tied_product::with(options).launch(&a, &b, &mut c)?;
        c.to_vec()
    };
    assert_eq!(run(Options::new()).unwrap(), expected);
    for (tm, tn) in [(4, 8), (4, 16), (4, 24), (8, 8), (8, 16), (8, 24), (16, 16)] {
        let options = Options::new().tile("TM", tm).tile("TN", tn);
        assert_eq!(run(options).unwrap(), expected, "TM = {tm}, TN = {tn}");
    }
    for (tm, tn) in [(16, 8), (16, 24), (6, 24), (32, 24), (4, 12)] {
        let error = run(Options::new().tile("TM", tm).tile("TN", tn)).unwrap_err();
        assert!(error.to_string().contains("T"), "{error}");
    }
}

#[test]
fn three_dimensions_of_literal_extents() {
    let dev = Device::cpu();
    let host = numbers(4 * 9 * 32);
    let at = |z: usize, y: usize, x: usize| host[(z * 9 + y) * 32 + x];
    let mirror = |at: usize, len: usize| at / len * len + len - 1 - at % len;
    let expected: Vec<i32> = (0..host.len())
        .map(|i| at(mirror(i / 288, 2), mirror(i / 32 % 9, 3), mirror(i % 32, 8)))
        .collect();
    let x = dev.tensor([4, 9, 32], &host).unwrap();
    let mut c = poisoned(&dev, [4, 9, 32]);
    mirrored_boxes::launch(&x, &mut c).unwrap();
    assert_eq!(c.to_vec().unwrap(), expected);
    let other = dev.tensor([4, 9, 31], &numbers(4 * 9 * 31)).unwrap();
    let error = mirrored_boxes::launch(&other, &mut c).unwrap_err();
    assert!(error.to_string().contains("31"), "{error}");
}

#[test]
fn one_dimension_of_literal_extents() {
    let dev = Device::cpu();
    let host = numbers(16 * 64);
    let expected: Vec<i32> = host.chunks(64).map(|row| row.iter().sum()).collect();
    let x = dev.tensor([16, 64], &host).unwrap();
    let mut c = poisoned(&dev, [16]);
    halved_rows::launch(&x, &mut c).unwrap();
    assert_eq!(c.to_vec().unwrap(), expected);
}

#[test]
fn a_block_without_a_grid() {
    let dev = Device::cpu();
    let host = numbers(5 * 8);
    let expected: Vec<i32> = host
        .chunks(8)
        .enumerate()
        .flat_map(|(row, numbers)| {
            let turned: Vec<i32> = numbers.iter().rev().copied().collect();
            if row % 2 == 0 { turned } else { vec![i32::MIN; 8] }
        })
        .collect();
    let x = dev.tensor([5, 8], &host).unwrap();
    let mut c = poisoned(&dev, [5, 8]);
    one_block::launch(&x, &mut c).unwrap();
    assert_eq!(c.to_vec().unwrap(), expected);
}
