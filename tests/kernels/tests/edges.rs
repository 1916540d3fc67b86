//! The kernels with edge rules, on the CPU device against plain loops.

use tile_kernels::{ends, mirrored_halo, rotated_rows};
use tile_runtime::{Device, Options};

/// The position that stands for `i`, of `n` at least 1, step by step as a walker goes.
fn clamped(i: i64, n: i64) -> usize {
    i.max(0).min(n - 1) as usize
}

fn wrapped(mut i: i64, n: i64) -> usize {
    while i < 0 {
        i += n;
    }
    while i >= n {
        i -= n;
    }
    i as usize
}

fn reflected(mut i: i64, n: i64) -> usize {
    if n == 1 {
        return 0;
    }
    while i < 0 || i >= n {
        i = if i < 0 { -i } else { 2 * (n - 1) - i };
    }
    i as usize
}

fn numbers(n: usize) -> Vec<i32> {
    (0..n).map(|i| ((i * 37 + 11) % 101) as i32 - 50).collect()
}

#[test]
fn three_rules_on_a_line() {
    let dev = Device::cpu();
    let rules: [fn(i64, i64) -> usize; 3] = [clamped, wrapped, reflected];
    for n in [0_usize, 1, 2, 3, 31, 64, 100] {
        for far in [1, 2, 5, 170, -3, -300] {
            let x = numbers(n);
            let mut expected = Vec::new();
            for rule in rules {
                for i in 0..n as i64 {
                    let at = |i: i64| x[rule(i, n as i64)];
                    expected.push(at(i - 1) + at(i) + at(i + i64::from(far)));
                }
            }
            let tensors = [(); 3].map(|()| dev.tensor([n], &x).unwrap());
            let [c, w, r] = &tensors;
            for options in
                [Options::new(), Options::new().tile("TN", 16), Options::new().tile("TN", 7)]
            {
                let mut y = dev.tensor([3, n], &vec![i32::MIN; 3 * n]).unwrap();
                ends::with(options).launch(c, w, r, far, &mut y).unwrap();
                assert_eq!(y.to_vec().unwrap(), expected, "{n} elements, {far} away");
            }
        }
    }
}

#[test]
fn a_halo_that_is_mirrored() {
    let dev = Device::cpu();
    for [rows, cols] in [[1, 1], [1, 9], [2, 2], [5, 70], [64, 64], [65, 127], [0, 4], [128, 96]] {
        let x = numbers(rows * cols);
        let mut expected = Vec::new();
        for i in 0..rows as i64 {
            for j in 0..cols as i64 {
                let mut sum = 0;
                for (di, dj) in (-1..=1).flat_map(|di| (-1..=1).map(move |dj| (di, dj))) {
                    let (row, col) =
                        (reflected(i + di, rows as i64), reflected(j + dj, cols as i64));
                    sum += x[row * cols + col];
                }
                expected.push(sum);
            }
        }
        let x = dev.tensor([rows, cols], &x).unwrap();
        for (tr, tc) in [(16, 16), (4, 64), (3, 5)] {
            let options = Options::new().tile("TR", tr).tile("TC", tc);
            let mut y = dev.tensor([rows, cols], &vec![i32::MIN; rows * cols]).unwrap();
            mirrored_halo::with(options).launch(&x, &mut y).unwrap();
            assert_eq!(y.to_vec().unwrap(), expected, "{rows} by {cols}, tiles {tr} by {tc}");
        }
    }
}

#[test]
fn a_ring_in_place() {
    let dev = Device::cpu();
    for rows in [0, 1, 5] {
        let x = numbers(rows * 64);
        let mut expected = x.clone();
        expected.chunks_mut(64).for_each(|row| row.rotate_left(1));
        let mut x = dev.tensor([rows, 64], &x).unwrap();
        rotated_rows::launch(&mut x).unwrap();
        assert_eq!(x.to_vec().unwrap(), expected, "{rows} rows");
    }
}

#[test]
fn the_text_is_as_it_was_written() {
    let text = mirrored_halo::kernel::<f32>().print();
    assert!(text.contains("#[edge(reflect)] x: &Tensor<T, [R, C]>"), "{text}");
    assert!(text.contains("load s[i, j] = x[by * TR + i - 1, bx * TC + j - 1];"), "{text}");
}
