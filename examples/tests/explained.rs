//! Every kernel of the gallery is explained, for an old device and a new one.

use tile_examples::all;
use tile_runtime::ir::device::known;

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
                    if is_wide || !is_timed {
                        wrong.push(text);
                    }
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
