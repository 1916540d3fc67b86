//! Checks of the kernels that use what atomic updates found. Their order is any,
//! so what is compared is what every order has in common.

use super::{CheckError, Setup, Verdict, equal};

/// Fails where `holds` is not so.
fn require(holds: bool, what: &str) -> Verdict {
    if holds {
        return Ok(());
    }
    Err(CheckError::Wrong { element: Vec::new(), values: what.to_owned() })
}

/// Queues of `n` elements, of the grid and of each block of `tile` work-items.
///
/// # Errors
///
/// Where a launch fails, or an element is lost, doubled or elsewhere.
pub fn check_queues(setup: &Setup, n: usize, tile: usize) -> Verdict {
    let mut rng = setup.rng();
    let a: Vec<i32> = (0..n).map(|_| rng.i32(-1000..1000)).collect();
    let device_a = setup.device.tensor([n], &a)?;
    let mut positives: Vec<i32> = a.iter().copied().filter(|value| *value > 0).collect();
    positives.sort_unstable();

    // Some room too little: what has no place is dropped.
    let room = positives.len().saturating_sub(3).max(1);
    for room in [n.max(1), room] {
        let mut count = setup.device.zeros([1])?;
        let mut out = setup.device.zeros([room])?;
        crate::positives::with(setup.options.clone()).launch(&device_a, &mut count, &mut out)?;
        equal(&count.to_vec()?, &[1], |_| positives.len() as u32)?;
        let mut found = out.to_vec()?;
        found.truncate(positives.len());
        found.sort_unstable();
        require(found.len() == room.min(positives.len()), "a queue of another length")?;
        let mut rest = positives.iter();
        let kept = found.iter().all(|value| rest.any(|other| other == value));
        require(kept, "an element is doubled or made up")?;
    }

    let mut out = setup.device.zeros([n])?;
    let options = setup.options.clone().tile("TN", tile as u32);
    crate::evens_first::with(options).launch(&device_a, &mut out)?;
    let out = out.to_vec()?;
    for (part, queue) in a.chunks(tile).zip(out.chunks(tile)) {
        let mut expected: Vec<i32> = part.iter().copied().filter(|value| value % 2 == 0).collect();
        let (front, behind) = queue.split_at(expected.len());
        let mut front = front.to_vec();
        front.sort_unstable();
        expected.sort_unstable();
        require(front == expected, "a block's queue holds other elements")?;
        require(behind.iter().all(|value| *value == 0), "there is something behind a queue")?;
    }
    Ok(())
}

/// The places of `n` elements by their value.
///
/// # Errors
///
/// Where the launch fails, or a place is lost, doubled or elsewhere.
pub fn check_places_by_value(setup: &Setup, n: usize) -> Verdict {
    const BINS: usize = 7;
    let mut rng = setup.rng();
    let a: Vec<i32> = (0..n).map(|_| rng.i32(-1..BINS as i32 + 1)).collect();
    let device_a = setup.device.tensor([n], &a)?;
    let mut counts = setup.device.zeros([BINS])?;
    let width = 2 * n.max(1);
    let mut rows = setup.device.tensor([BINS, width], &vec![-1i64; BINS * width])?;
    crate::places_by_value::with(setup.options.clone()).launch(
        &device_a,
        &mut counts,
        &mut rows,
    )?;
    let (counts, rows) = (counts.to_vec()?, rows.to_vec()?);
    for bin in 0..BINS {
        let of_bin = (0..n).filter(|place| a[*place] == bin as i32);
        let mut expected: Vec<i64> = of_bin.flat_map(|place| [place as i64; 2]).collect();
        require(counts[bin] as usize == expected.len(), "a count is wrong")?;
        let row = &rows[bin * width..][..width];
        let pairs = row.chunks(2).all(|pair| pair[0] == pair[1]);
        require(pairs, "the two of a pair are not one after the other")?;
        let mut found = row.to_vec();
        found.retain(|place| *place >= 0);
        found.sort_unstable();
        expected.sort_unstable();
        require(found == expected, "a row holds other places")?;
    }
    Ok(())
}

/// Exchanges by `n` work-items.
///
/// # Errors
///
/// Where a launch fails, or a value is lost or doubled.
pub fn check_exchanges(setup: &Setup, n: usize) -> Verdict {
    let mut rng = setup.rng();
    let a: Vec<i32> = (0..n).map(|_| rng.i32(..)).collect();
    let device_a = setup.device.tensor([n], &a)?;
    let mut last = setup.device.tensor([1], &[-5])?;
    let mut lock = setup.device.zeros([4])?;
    let mut before = setup.device.zeros([n])?;
    let mut got = setup.device.zeros([n])?;
    crate::exchanges::with(setup.options.clone()).launch(
        &device_a,
        &mut last,
        &mut lock,
        &mut before,
        &mut got,
    )?;
    require(
        sorted([before.to_vec()?, last.to_vec()?].concat()) == sorted([a, vec![-5]].concat()),
        "a value was lost or doubled on its way",
    )?;
    let (lock, got) = (lock.to_vec()?, got.to_vec()?);
    for (place, &holder) in lock.iter().enumerate() {
        let mine: Vec<usize> = (0..n).filter(|item| item % 4 == place).collect();
        let winners = mine.iter().filter(|item| got[**item] == 0).count();
        require(winners == usize::from(!mine.is_empty()), "not just one has got it")?;
        let told = mine.iter().all(|item| match got[*item] {
            0 => holder == *item as u64 + 1,
            other => other == holder,
        });
        require(told, "somebody was told of another holder")?;
    }
    check_float_exchanges(setup, n)
}

fn check_float_exchanges(setup: &Setup, n: usize) -> Verdict {
    let mut rng = setup.rng();
    let a: Vec<f32> = (0..n).map(|_| rng.i32(1..1000) as f32 / 4.0).collect();
    let device_a = setup.device.tensor([n], &a)?;
    let mut last = setup.device.tensor([1], &[0.5f64])?;
    let mut most = setup.device.tensor([1], &[7.0f32])?;
    let mut slot = setup.device.tensor([1], &[-1.0f32])?;
    let mut before = setup.device.zeros([n])?;
    let mut seen = setup.device.zeros([n])?;
    let mut held = setup.device.zeros([n])?;
    crate::float_exchanges::with(setup.options.clone()).launch(
        &device_a,
        &mut last,
        &mut most,
        &mut slot,
        &mut before,
        &mut seen,
        &mut held,
    )?;
    let quarters = |values: Vec<f64>| sorted(values.iter().map(|v| (v * 4.0) as i64).collect());
    let mine: Vec<f64> = a.iter().map(|value| f64::from(*value)).chain([0.5]).collect();
    let found = [before.to_vec()?, last.to_vec()?].concat();
    require(quarters(found) == quarters(mine), "a value was lost or doubled on its way")?;
    let largest = a.iter().copied().fold(7.0f32, f32::max);
    equal(&most.to_vec()?, &[1], |_| largest)?;
    let seen = seen.to_vec()?;
    let known = |value: &f32| *value == 7.0 || a.contains(value);
    require(seen.iter().all(known), "a maximum that nobody stored")?;
    let holder = slot.to_vec()?[0];
    let held = held.to_vec()?;
    let winners = held.iter().filter(|was| **was == -2.0).count();
    require(winners == usize::from(n > 0), "not just one has got it")?;
    let told = held.iter().all(|was| *was == -2.0 || *was == holder * 2.0);
    require(told, "somebody was told of another holder")
}

/// A product of `n` numbers by repeated exchange.
///
/// # Errors
///
/// Where the launch fails or the product is wrong.
pub fn check_product_by_exchange(setup: &Setup, n: usize) -> Verdict {
    let mut rng = setup.rng();
    let a: Vec<u32> = (0..n).map(|_| rng.u32(..) | 1).collect();
    let device_a = setup.device.tensor([n], &a)?;
    let mut total = setup.device.tensor([1], &[3u32])?;
    crate::product_by_exchange::with(setup.options.clone()).launch(&device_a, &mut total)?;
    let product = a.iter().fold(3u32, |product, value| product.wrapping_mul(*value));
    equal(&total.to_vec()?, &[1], |_| product)
}

fn sorted<T: Ord>(mut values: Vec<T>) -> Vec<T> {
    values.sort_unstable();
    values
}
