//! Checked launches of kernels that the compiler accepts: results, notes, and findings
//! that only data shows.

use tile_runtime::{
    ArgumentError, CheckLog, CheckReport, Device, Error, Finding, Note, Options, tiled_kernel,
};

tiled_kernel! {
    /// `b = aᵀ`.
    fn transpose(a: &Tensor<f32, [R, C]>, b: &mut Tensor<f32, [C, R]>)
    where tile: (TR, TC), grid: (by in tiles(R, TR), bx in tiles(C, TC)),
    {
        shared s: [f32; TR, TC];
        load s[i, j] = a[by * TR + i, bx * TC + j];
        barrier;
        each (j, i) in (TC, TR) {
            b[bx * TC + j, by * TR + i] = s[i, j];
        }
    }
}

tiled_kernel! {
    /// `x[i] = (x[i] + y[i]) / z[i]` where `z` is not -1.
    fn arithmetic(x: &mut Tensor<i32, [N]>, y: &Tensor<i32, [N]>, z: &Tensor<i32, [N]>)
    where tile: (TN), grid: (bx in tiles(N, TN)), block: (tx in TN),
    {
        let i = bx * TN + tx;
        if z[i] != -1 {
            x[i] = (x[i] + y[i]) / z[i];
        }
    }
}

tiled_kernel! {
    /// `x[i] = 1 / x[i] + y`.
    fn inverse(x: &mut Tensor<f32, [N]>, y: f32)
    where tile: (TN), grid: (bx in tiles(N, TN)), block: (tx in TN),
    {
        let i = bx * TN + tx;
        if i < N {
            x[i] = 1.0 / x[i] + y;
        }
    }
}

tiled_kernel! {
    /// To places that the caller says are distinct.
    fn half(a: &Tensor<f32, [N]>, c: &mut Tensor<f32, [M]>)
    where tile: (TN), grid: (bx in tiles(N, TN)), block: (tx in TN),
    {
        let i = bx * TN + tx;
        if i < N && i % 2 == 0 {
            c[i] = a[i];
        }
    }
}

tiled_kernel! {
    /// Each tile backwards; who turns it does not wait.
    #[unsafe(unchecked)]
    fn hasty(a: &Tensor<f32, [N]>, c: &mut Tensor<f32, [N]>)
    where tile: (TN in [4, 8]), grid: (bx in tiles(N, TN)), block: (tx in TN),
    {
        shared s: [f32; TN];
        s[tx] = a[bx * TN + tx];
        c[bx * TN + tx] = s[TN - 1 - tx];
    }

    /// Part of a block waits.
    #[unsafe(unchecked)]
    fn parted(x: &mut Tensor<i32, [N]>, n: i32)
    where tile: (TN), grid: (bx in tiles(N, TN)), block: (tx in TN),
    {
        x[bx * TN + tx] = 1;
        if x[bx * TN + tx] + tx as i32 < n {
            barrier;
        }
        x[bx * TN + tx] = 2;
    }

    /// Part of a block waits, and nobody has written yet.
    #[unsafe(unchecked)]
    fn cut_short(x: &Tensor<i32, [N]>, c: &mut Tensor<i32, [N]>)
    where tile: (TN), grid: (bx in tiles(N, TN)), block: (tx in TN),
    {
        if x[bx * TN + tx] == 1 {
            barrier;
        }
        c[bx * TN + tx] = 2;
    }

    /// The second warp, of 8 work-items, does not wait for the block's load.
    #[unsafe(unchecked)]
    fn half_a_warp(a: &Tensor<i32, [N]>, c: &mut Tensor<i32, [N]>)
    where tile: (T = 40), grid: (bx in tiles(N, T)), block: (tx in T),
    {
        shared s: [i32; T];
        load s[i] = a[bx * T + i];
        warp_barrier;
        if tx >= 32 {
            c[bx * T + tx] = s[tx - 32];
        }
    }

    /// Part of a block shares out a loop.
    #[unsafe(unchecked)]
    fn shared_out(x: &mut Tensor<i32, [N]>, n: i32)
    where tile: (TN), grid: (bx in tiles(N, TN)), block: (tx in TN),
    {
        if x[bx * TN + tx] + tx as i32 < n {
            each i in TN {
                x[bx * TN + i] = 2;
            }
        }
    }

    /// Part of a block adds up.
    #[unsafe(unchecked)]
    fn added_up(x: &mut Tensor<i32, [N]>, n: i32)
    where tile: (TN), grid: (bx in tiles(N, TN)), block: (tx in TN),
    {
        if x[bx * TN + tx] + tx as i32 < n {
            let sum = reduce_sum(x[bx * TN + tx]);
            x[bx * TN + tx] = sum;
        }
    }
}

tiled_kernel! {
    /// The sum of each 64 elements, by a warp, after a load of the block.
    fn sums_of_warps(#[pad = 0] a: &Tensor<i32, [N]>, c: &mut Tensor<i32, [B]>)
    where tile: (T = 64), grid: (bx in B), block: (tx in T),
    {
        shared s: [i32; T];
        load s[i] = a[bx * T + i];
        barrier;
        if tx < 32 {
            for d in halving(T) {
                let mut value = s[tx];
                if tx < d {
                    value = value + s[tx + d];
                }
                warp_barrier;
                s[tx] = value;
                warp_barrier;
            }
        }
        if tx == 0 {
            c[bx] = s[0];
        }
    }
}

fn checked(log: &CheckLog, tile: u32) -> Options {
    Options::new().tile("TN", tile).checked(true).check_log(log)
}

fn only(log: &CheckLog) -> CheckReport {
    let mut reports = log.take();
    assert_eq!(reports.len(), 1, "{reports:?}");
    reports.remove(0)
}

#[test]
fn ragged_edges_are_noted_and_results_are_the_same() -> Result<(), Error> {
    let device = Device::cpu();
    let values: Vec<f32> = (0..35).map(|i| i as f32).collect();
    let a = device.tensor([5, 7], &values)?;
    let (mut plain, mut looked_at) = (device.zeros([7, 5])?, device.zeros([7, 5])?);
    let tiles = || Options::new().tile("TR", 4).tile("TC", 4);
    transpose::with(tiles().checked(false)).launch(&a, &mut plain)?;
    let log = CheckLog::new();
    transpose::with(tiles().checked(true).check_log(&log)).launch(&a, &mut looked_at)?;
    assert_eq!(plain.to_vec()?, looked_at.to_vec()?);
    let report = only(&log);
    // 4 blocks of 16 elements, of which 35 are inside.
    let counts: Vec<u64> = report
        .notes
        .iter()
        .map(|note| match note {
            Note::Dropped { count, .. } => *count,
            other => panic!("{other}"),
        })
        .collect();
    assert_eq!(counts, [64 - 35, 64 - 35]);
    assert!(
        report.to_string().starts_with(
            "note: a read gives the pad value: work-item (i = 0, j = 3) in block (by = 0, bx = 1) \
         uses 7 on axis 1 of `a`, whose extent is 7, and 28 times more\n  in `transpose`, "
        ),
        "{report}"
    );
    Ok(())
}

#[test]
fn integers_that_wrap_and_divisors_of_0_are_noted() -> Result<(), Error> {
    let device = Device::cpu();
    let mut x = device.tensor([6], &[1, i32::MAX, 3, i32::MIN, 5, i32::MAX])?;
    let y = device.tensor([6], &[1, 1, 1, 0, 1, 1])?;
    // The last one takes no part.
    let z = device.tensor([6], &[2, 2, 0, -2, 0, -1])?;
    let log = CheckLog::new();
    arithmetic::with(checked(&log, 3)).launch(&mut x, &y, &z)?;
    assert_eq!(x.to_vec()?, [1, i32::MIN / 2, 0, 1 << 30, 0, i32::MAX]);
    let report = only(&log);
    let texts: Vec<String> = report.notes.iter().map(Note::to_string).collect();
    assert_eq!(
        texts,
        [
            "`+` of `i32` wraps: work-item (tx = 1) in block (bx = 0)",
            "`/` by 0 gives 0: work-item (tx = 2) in block (bx = 0), and once more",
        ],
    );
    Ok(())
}

#[test]
fn the_origin_of_an_infinity_is_noted_where_it_is_asked_for() -> Result<(), Error> {
    let device = Device::cpu();
    for is_asked in [false, true] {
        let mut x = device.tensor([5], &[1.0, 0.0, f32::NAN, 4.0, f32::INFINITY])?;
        let log = CheckLog::new();
        let options = checked(&log, 2).nan_origin(is_asked);
        inverse::with(options).launch(&mut x, 1.0)?;
        let texts: Vec<String> = only(&log).notes.iter().map(Note::to_string).collect();
        let expected = "`/` of finite `f32` is not finite: work-item (tx = 1) in block (bx = 0)";
        assert_eq!(texts, if is_asked { vec![expected] } else { Vec::new() });
    }
    Ok(())
}

#[test]
fn elements_of_outputs_that_nobody_writes_are_noted() -> Result<(), Error> {
    let device = Device::cpu();
    let a = device.tensor([5], &[1.0f32; 5])?;
    let mut c = device.zeros([6])?;
    let log = CheckLog::new();
    half::with(checked(&log, 4)).launch(&a, &mut c)?;
    let texts: Vec<String> = only(&log).notes.iter().map(Note::to_string).collect();
    let expected = "`c[1]` and 2 more elements of `c` are left as they were: nobody writes them";
    assert_eq!(texts, [expected]);
    Ok(())
}

#[test]
fn warps_are_told_after_a_load_too() -> Result<(), Error> {
    let device = Device::cpu();
    let a = device.tensor([128], &std::array::from_fn::<i32, 128, _>(|i| i as i32))?;
    let mut c = device.zeros([2])?;
    sums_of_warps::with(Options::new().checked(true)).launch(&a, &mut c)?;
    assert_eq!(c.to_vec()?, [2016, 6112]);
    Ok(())
}

#[test]
fn an_unchecked_kernel_is_looked_at() -> Result<(), Error> {
    let device = Device::cpu();
    let a = device.tensor([8], &[1.0f32; 8])?;
    let mut c = device.zeros([8])?;
    let error = hasty::launch(&a, &mut c).unwrap_err();
    let text = error.to_string();
    let texts: Vec<&str> = text.lines().collect();
    let [first, writes, reads, cases, help, place] = texts[..6] else { panic!("{text}") };
    assert_eq!(
        first,
        "race on the tile `s`: two work-items use one element, and one of them changes it [TK0301]"
    );
    assert!(writes.ends_with(": work-item (tx = 3) in block (bx = 0) writes `s[3]`"), "{text}");
    assert!(reads.ends_with(": work-item (tx = 0) in block (bx = 0) reads `s[3]`"), "{text}");
    assert_eq!(cases, "  these two lines collide in 8 cases");
    assert!(help.starts_with("  help: put `barrier;` between"), "{text}");
    assert!(place.starts_with("  in `hasty`, ") && place.contains("checked.rs:"), "{text}");
    Ok(())
}

#[test]
fn what_a_block_does_together_is_found_where_work_items_need_not_agree() -> Result<(), Error> {
    let device = Device::cpu();
    let launch = |is_loop: bool, n: i32| {
        let mut x = device.zeros([6])?;
        let options = Options::new().tile("TN", 3);
        match is_loop {
            true => shared_out::with(options).launch(&mut x, n)?,
            false => added_up::with(options).launch(&mut x, n)?,
        }
        x.to_vec()
    };
    for is_loop in [true, false] {
        assert_eq!(launch(is_loop, 0)?, [0; 6]);
        let Error::Check(report) = launch(is_loop, 2).unwrap_err() else { panic!("no report") };
        let [Finding::Divergence { absent: Some(absent), .. }] = &report.findings[..] else {
            panic!("{report}")
        };
        assert_eq!(absent.item, [("tx".to_owned(), 2)]);
        let Error::Check(report) = launch(is_loop, 9).unwrap_err() else { panic!("no report") };
        let [Finding::Divergence { absent: None, .. }] = &report.findings[..] else {
            panic!("{report}")
        };
        let text = report.to_string();
        assert!(text.starts_with("not every work-item of the block need come to line "), "{text}");
        assert!(text.contains("work-item (tx = 0) in block (bx = 0) does"), "{text}");
        assert!(text.contains(", and all others, by a condition on which they may disagree"));
    }
    Ok(())
}

#[test]
fn a_barrier_that_all_reach_is_one_and_another_is_found() -> Result<(), Error> {
    let device = Device::cpu();
    let launch = |n: i32| {
        let mut x = device.zeros([6])?;
        parted::with(Options::new().tile("TN", 3)).launch(&mut x, n)?;
        x.to_vec()
    };
    // All of them, and none.
    assert_eq!(launch(4)?, [2; 6]);
    assert_eq!(launch(1)?, [2; 6]);
    let text = launch(2).unwrap_err().to_string();
    let expected = [
        "not every work-item of the block comes to line ",
        " [TK0401]\n  work-item (tx = 0) in block (bx = 0) does, work-item (tx = 1) in block (bx = 0) does not\n",
    ];
    assert!(expected.iter().all(|part| text.contains(part)), "{text}");
    Ok(())
}

#[test]
fn points_of_a_load_are_in_no_warp() -> Result<(), Error> {
    let device = Device::cpu();
    let a = device.tensor([40], &[1; 40])?;
    let mut c = device.zeros([40])?;
    let Error::Check(report) = half_a_warp::launch(&a, &mut c).unwrap_err() else {
        panic!("no report")
    };
    let [Finding::Race { count: 8, array, .. }] = &report.findings[..] else { panic!("{report}") };
    assert_eq!(array, "s");
    Ok(())
}

/// Nobody says of what a launch did not come to that nobody writes it.
#[test]
fn a_launch_that_is_stopped_has_left_nothing_out() -> Result<(), Error> {
    let device = Device::cpu();
    for is_stopped in [true, false] {
        let x = device.tensor([3], &[i32::from(is_stopped), 0, 0])?;
        let mut c = device.zeros([3])?;
        let log = CheckLog::new();
        let options = Options::new().tile("TN", 4).check_log(&log);
        let result = cut_short::with(options).launch(&x, &mut c);
        assert_eq!(result.is_err(), is_stopped);
        let left_out = |note: &&Note| matches!(note, Note::LeftOut { .. });
        let report = only(&log);
        assert_eq!(report.notes.iter().filter(left_out).count(), 0, "{report}");
    }
    Ok(())
}

#[test]
fn an_unchecked_kernel_runs_nowhere_else() -> Result<(), Error> {
    let device = Device::cpu();
    let mut x = device.zeros([6])?;
    let options = Options::new().checked(false);
    let error = parted::with(options).launch(&mut x, 1).unwrap_err();
    assert!(
        matches!(&error, Error::Argument(error) if matches!(**error, ArgumentError::Unchecked { .. })),
        "{error}"
    );
    Ok(())
}
