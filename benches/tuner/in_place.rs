//! That a launch which tunes a kernel in place leaves what a launch leaves that does
//! not.

use std::time::Duration;

use tile_runtime::{Device, Options, Tune};

use crate::child::random;
use crate::line::Line;

const N_ELEMS: usize = (1 << 24) + 1;
const QUICK_ELEMS: usize = 5000;
const ALPHA: f32 = 1.25;

pub(crate) fn measure(
    device: &Device,
    quick: bool,
    budget: Duration,
) -> Result<Vec<Line>, Box<dyn std::error::Error>> {
    let n_elems = if quick { QUICK_ELEMS } else { N_ELEMS };
    let budget = if quick { Duration::from_millis(200) } else { budget };
    let x = device.tensor([n_elems], &random(n_elems, 3))?;
    let start = random(n_elems, 4);
    let after = |tune: Tune| -> tile_runtime::Result<Vec<u32>> {
        let mut y = device.tensor([n_elems], &start)?;
        tile_kernels::saxpy::with(Options::new().tune(tune)).launch(ALPHA, &x, &mut y)?;
        Ok(y.to_vec()?.into_iter().map(f32::to_bits).collect())
    };
    let (plain, tuned) = (after(Tune::Off)?, after(Tune::Now(budget))?);
    let differing = plain.iter().zip(&tuned).filter(|(plain, tuned)| plain != tuned).count();
    let untouched = start.iter().zip(&plain).all(|(start, plain)| start.to_bits() == *plain);
    let written = !untouched;
    Ok(vec![Line::InPlace { n_elems, differing, passed: differing == 0 && written }])
}
