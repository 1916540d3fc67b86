//! The host's part of a launch of a kernel that is ready, against the driver's call
//! alone.

use std::time::Instant;

use tile_runtime::bench::BareLaunch;
use tile_runtime::{Device, Result};

use crate::line::Line;

/// Elements: the kernel is over before the next is launched.
const N_ELEMS: usize = 1024;
/// Launches of a batch: fewer than the driver queues.
const LAUNCHES: usize = 200;
const BATCHES: usize = 61;

pub(crate) fn measure(
    device: &Device,
    quick: bool,
) -> std::result::Result<Vec<Line>, Box<dyn std::error::Error>> {
    let batches = if quick { 3 } else { BATCHES };
    let (a, b) = (device.tensor([N_ELEMS], &[1.0; N_ELEMS])?, device.zeros([N_ELEMS])?);
    let mut c = device.zeros::<f32, 1>([N_ELEMS])?;
    let bare = if device.is_cpu() { None } else { Some(BareLaunch::new(&device.stream())?) };
    let mut launch = || (0..LAUNCHES).try_for_each(|_| tile_kernels::add::launch(&a, &b, &mut c));
    // In turn, so that a clock that changes meets both alike; the first warms up.
    let (mut ours, mut bares) = (Vec::new(), Vec::new());
    for batch in 0..=batches {
        let ours_us = per_launch_us(device, &mut launch)?;
        let bare_us = match &bare {
            Some(bare) => Some(per_launch_us(device, &mut || bare.launch(LAUNCHES))?),
            None => None,
        };
        if batch > 0 {
            ours.push(ours_us);
            bares.extend(bare_us);
        }
    }
    let launch_us = median(ours);
    let bare_us = (!bares.is_empty()).then(|| median(bares));
    let overhead_us = bare_us.map(|bare_us| launch_us - bare_us);
    Ok(vec![Line::Overhead { launch_us, bare_us, overhead_us, batches, launches: LAUNCHES }])
}

/// Microseconds of the host for each of [`LAUNCHES`] launches; waits for them after.
fn per_launch_us(device: &Device, body: &mut dyn FnMut() -> Result<()>) -> Result<f64> {
    device.synchronize()?;
    let start = Instant::now();
    body()?;
    let seconds = start.elapsed().as_secs_f64();
    device.synchronize()?;
    Ok(seconds * 1e6 / LAUNCHES as f64)
}

/// Of at least one value.
fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
