//! Every kernel of the gallery is explained, for an old device and a new one.

use tile_examples::{all, box_blur};
use tile_runtime::ir::device::known;
use tile_runtime::ir::explain::Rule;
use tile_runtime::ir::explain::roofline::Level;
use tile_runtime::{Error, Report};

#[test]
fn every_kernel_has_a_report() {
    let mut wrong = Vec::new();
    for kernel in all().iter().flat_map(|entry| (entry.kernels)()) {
        for device in ["T4", "H200"] {
            let device = known(device).expect("the device is in the table");
            let dims = vec![1001; kernel.dims().len()];
            match kernel.explain(&device, &dims) {
                Err(error) => wrong.push(format!("{kernel:?}: {error}")),
                Ok(report) => {
                    let text = report.to_string();
                    let is_wide = text.lines().any(|line| line.chars().count() > 100);
                    let is_timed = report.roofline.predicted_seconds > 0.0;
                    // A rate that nobody has published is not made up.
                    let has_l2 = device.peak_l2_bytes_per_s().is_some();
                    let says_l2 = report.roofline.roof(Level::L2).is_some();
                    let says_none = text.contains("its peak is not known");
                    if is_wide || !is_timed || says_l2 != has_l2 || says_none == has_l2 {
                        wrong.push(text);
                    }
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Of box blur nothing depends on data: its radius is one of the launch's arguments.
#[test]
fn loops_over_scalars_are_counted() {
    let device = known("H200").expect("the device is in the table");
    let explained = |radius: i32| -> Report {
        let kernel = box_blur::box_blur::kernel().scalar("radius", radius);
        kernel.explain(&device, &[1024, 2048]).unwrap_or_else(|error| panic!("{error}"))
    };
    for radius in [0, 3] {
        let report = explained(radius);
        let (side, rows, cols) = (2 * radius as u64 + 1, 1024, 2048);
        // A square around each pixel, and of it what is inside.
        let outside = u64::from(radius as u32 * (radius as u32 + 1));
        let read = (side * rows - outside) * (side * cols - outside);
        let of_x = || report.accesses.iter().filter(|access| access.array == "x");
        assert_eq!(of_x().map(|access| access.bytes).sum::<u64>(), read, "{report}");
        assert!(of_x().all(|access| access.unknown_requests == 0) && report.is_exact);
        assert!(report.branches.iter().all(|branch| branch.unknown == 0), "{report}");
        // Neighbours read neighbours, also where the first of them are outside.
        assert!(!report.findings.iter().any(|found| found.rule == Rule::Uncoalesced), "{report}");
        assert!(report.to_string().contains(&format!("C = 2048, radius = {radius}\n")));
    }
}

#[test]
fn scalars_that_a_kernel_does_not_have_are_errors() {
    let device = known("T4").expect("the device is in the table");
    let text = |name: &str, value: f64| {
        let kernel = box_blur::box_blur::kernel().scalar(name, value);
        let error: Error = kernel.explain(&device, &[9, 9]).expect_err("there is none");
        error.to_string()
    };
    assert_eq!(text("r", 1.0), "`box_blur` has no scalar `r`: its scalars are radius");
    let expected = "`radius` of `box_blur` is of type `u8`, which has no 256.0";
    assert_eq!(text("radius", 256.0), expected);
}
