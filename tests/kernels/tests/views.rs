//! Kernels on views: transposed, sliced, stepped and repeated tensors.

use tile_kernels::{add, matmul, row_sums, saxpy, transpose};
use tile_runtime::{Device, Options, Tensor};

fn numbers(n: usize) -> Vec<i32> {
    (0..n).map(|i| ((i * 37 + 11) % 101) as i32 - 50).collect()
}

/// `a · b` of row-major matrices.
fn product(a: &[i32], b: &[i32], [m, k, n]: [usize; 3]) -> Vec<i32> {
    let at = |i: usize, j: usize| (0..k).map(|p| a[i * k + p] * b[p * n + j]).sum();
    (0..m * n).map(|ij| at(ij / n, ij % n)).collect()
}

/// The transpose of a row-major matrix.
fn turned(a: &[i32], [rows, cols]: [usize; 2]) -> Vec<i32> {
    (0..rows * cols).map(|at| a[at % rows * cols + at / rows]).collect()
}

fn configurations() -> [Options; 3] {
    let tiles = |sizes: [u32; 3]| {
        ["TM", "TN", "TK"]
            .into_iter()
            .zip(sizes)
            .fold(Options::new(), |o, (name, n)| o.tile(name, n))
    };
    [Options::new(), tiles([16, 16, 16]), tiles([32, 64, 8])]
}

#[test]
fn products_of_transposed_matrices() {
    let dev = Device::cpu();
    for [m, k, n] in [[1, 1, 1], [13, 21, 30], [64, 64, 64], [65, 40, 33], [5, 0, 7]] {
        let (a, b) = (numbers(m * k), numbers(k * n));
        let expected = product(&a, &b, [m, k, n]);
        let plain = [dev.tensor([m, k], &a).unwrap(), dev.tensor([k, n], &b).unwrap()];
        let column_major = [
            dev.tensor([k, m], &turned(&a, [m, k])).unwrap(),
            dev.tensor([n, k], &turned(&b, [k, n])).unwrap(),
        ];
        let [a, b] = &plain;
        let [a_turned, b_turned] = &column_major;
        for options in configurations() {
            let run = |a: &Tensor<i32, 2>, b: &Tensor<i32, 2>| {
                let mut c = dev.tensor([m, n], &vec![i32::MIN; m * n]).unwrap();
                matmul::with(options.clone()).launch(a, b, &mut c).unwrap();
                assert_eq!(c.to_vec().unwrap(), expected, "{m} by {k} by {n}");
            };
            run(&a_turned.transposed(), b);
            run(a, &b_turned.transposed());
            run(&a_turned.transposed(), &b_turned.transposed());
            run(&a.view(), &b.view());
        }
    }
}

#[test]
fn parts_of_a_matrix() {
    let dev = Device::cpu();
    let (rows, cols) = (40, 50);
    let whole = numbers(rows * cols);
    let tensor = dev.tensor([rows, cols], &whole).unwrap();
    // The first element of the last three is nowhere near a multiple of 16 bytes.
    let parts = [
        (0..40, 0..50),
        (0..40, 0..48),
        (8..24, 16..48),
        (3..37, 7..46),
        (39..40, 49..50),
        (5..5, 0..9),
    ];
    for (down, across) in parts {
        let shape @ [m, n] = [down.len(), across.len()];
        let part = tensor.slice([down.clone(), across.clone()]).unwrap();
        let expected: Vec<i32> = down
            .clone()
            .flat_map(|i| across.clone().map(move |j| (i, j)))
            .map(|(i, j)| whole[i * cols + j])
            .collect();
        assert_eq!(part.to_vec().unwrap(), expected);
        assert_eq!(part.shape(), shape);
        let mut out = dev.tensor([n, m], &vec![i32::MIN; m * n]).unwrap();
        for sizes in [(16, 16), (32, 8), (5, 9)] {
            let options = Options::new().tile("TR", sizes.0).tile("TC", sizes.1);
            transpose::with(options).launch(&part, &mut out).unwrap();
            assert_eq!(out.to_vec().unwrap(), turned(&expected, shape), "{down:?}, {across:?}");
        }
    }
}

#[test]
fn steps_and_repetitions() {
    let dev = Device::cpu();
    let x = numbers(301);
    let tensor = dev.tensor([301], &x).unwrap();
    for step in [1, 2, 3, 4, 8, 400] {
        let every: Vec<i32> = x.iter().copied().step_by(step).collect();
        let n = every.len();
        let view = tensor.stepped([step]).unwrap();
        assert_eq!(view.to_vec().unwrap(), every);
        let one = dev.tensor([1], &[1000]).unwrap();
        let mut sum = dev.zeros([n]).unwrap();
        add::launch(&view, &one.broadcast([n]).unwrap(), &mut sum).unwrap();
        let expected: Vec<i32> = every.iter().map(|x| x + 1000).collect();
        assert_eq!(sum.to_vec().unwrap(), expected, "every {step}th");
        saxpy::launch(2, &view, &mut sum).unwrap();
        let expected: Vec<i32> = every.iter().map(|x| 3 * x + 1000).collect();
        assert_eq!(sum.to_vec().unwrap(), expected, "every {step}th");
    }
    // Each row the same.
    let row = dev.tensor([33], &x[..33]).unwrap();
    let mut sums = dev.zeros([20]).unwrap();
    row_sums::launch(&row.broadcast([20, 33]).unwrap(), &mut sums).unwrap();
    let sum: i32 = x[..33].iter().sum();
    assert_eq!(sums.to_vec().unwrap(), [sum; 20]);
}

#[test]
fn launches_on_views_and_tensors_are_told_apart() {
    let dev = Device::cpu();
    let a = dev.tensor([8, 8], &numbers(64)).unwrap();
    let mut out = dev.zeros([8, 8]).unwrap();
    for _ in 0..3 {
        transpose::launch(&a, &mut out).unwrap();
        assert_eq!(out.to_vec().unwrap(), turned(&numbers(64), [8, 8]));
        transpose::launch(&a.transposed(), &mut out).unwrap();
        assert_eq!(out.to_vec().unwrap(), numbers(64));
        transpose::launch(&a.slice([0..8, 0..8]).unwrap(), &mut out).unwrap();
        assert_eq!(out.to_vec().unwrap(), turned(&numbers(64), [8, 8]));
        transpose::launch(
            &a.stepped([1, 2]).unwrap().broadcast([8, 4]).unwrap(),
            &mut dev.zeros([4, 8]).unwrap(),
        )
        .unwrap();
    }
}

#[test]
fn results_into_parts() {
    let dev = Device::cpu();
    let (m, k, n) = (20, 11, 30);
    let (a, b) = (numbers(m * k), numbers(k * n));
    let product = product(&a, &b, [m, k, n]);
    let (a, b) = (dev.tensor([m, k], &a).unwrap(), dev.tensor([k, n], &b).unwrap());
    for options in configurations() {
        // Transposed, into the middle of a larger matrix.
        let (rows, cols) = (40, 33);
        let mut whole = dev.tensor([rows, cols], &vec![7; rows * cols]).unwrap();
        let mut part = whole.slice_mut([5..5 + n, 9..9 + m]).unwrap().transposed();
        assert_eq!(part.shape(), [m, n]);
        matmul::with(options).launch(&a, &b, &mut part).unwrap();
        drop(part);
        let found = whole.to_vec().unwrap();
        for (at, found) in found.into_iter().enumerate() {
            let (row, col) = (at / cols, at % cols);
            let inside = (5..5 + n).contains(&row) && (9..9 + m).contains(&col);
            let expected = if inside { product[(col - 9) * n + row - 5] } else { 7 };
            assert_eq!(found, expected, "row {row}, column {col}");
        }
    }
    // Every third element; what is between stays.
    let mut line = dev.tensor([31], &[1; 31]).unwrap();
    let twos = dev.tensor([11], &[2; 11]).unwrap();
    saxpy::launch(3, &twos, &mut line.stepped_mut([3]).unwrap()).unwrap();
    let expected: Vec<i32> = (0..31).map(|i| if i % 3 == 0 { 7 } else { 1 }).collect();
    assert_eq!(line.to_vec().unwrap(), expected);
}
