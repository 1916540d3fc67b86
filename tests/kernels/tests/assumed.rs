//! Assumptions: what comes out where they hold, and what the CPU device says where
//! they do not.

use tile_kernels::{listed_pairs, merged, own_slots, scatter, spread_rows, strided};
use tile_runtime::{AssumptionError, Device, Error, Options};

fn options() -> Options {
    Options::new().tile("TN", 4)
}

/// What `scatter` makes of `ind`: elements 100, 101, … put where it says.
fn scattered(ind: &[i32]) -> Result<Vec<i32>, Error> {
    let dev = Device::cpu();
    let x: Vec<i32> = (100..).take(ind.len()).collect();
    let ind = dev.tensor([ind.len()], ind)?;
    let x = dev.tensor([x.len()], &x)?;
    let mut c = dev.tensor([8], &[0; 8])?;
    scatter::with(options()).launch(&ind, &x, &mut c)?;
    c.to_vec()
}

#[test]
fn distinct_positions() {
    // Outside of the tensor nothing is written.
    assert_eq!(scattered(&[3, 0, 7, 1, 9, -1]).unwrap(), [101, 103, 0, 100, 0, 0, 0, 102]);
}

#[test]
fn positions_that_are_not_distinct() {
    let error = scattered(&[3, 0, 7, 1, 5, 0]).unwrap_err();
    let text = error.to_string();
    let Error::Assumption(found) = error else { panic!("{text}") };
    let AssumptionError::Distinct { kernel, file, line, tensor, first, second, value } = *found
    else {
        panic!("{text}")
    };
    assert_eq!((kernel.as_str(), tensor.as_str(), value.as_str()), ("scatter", "ind", "0"));
    assert_eq!((first, second), (vec![1], vec![5]));
    let source = include_str!("../src/assumed.rs");
    let stated = source.lines().nth(line as usize - 1).unwrap_or_default();
    assert!(file.ends_with("assumed.rs"), "{file}");
    assert_eq!(stated.trim(), "assume(distinct(ind));");
    assert_eq!(
        text,
        format!(
            "`assume(distinct(ind))` of `scatter` ({file}:{line}) does not hold: ind[1] and ind[5] are both 0"
        )
    );
}

/// What `spread_rows` makes of rows that begin at `first`.
fn spread(first: &[i32]) -> Result<Vec<i32>, Error> {
    let dev = Device::cpu();
    let first = dev.tensor([first.len()], first)?;
    let mut c = dev.tensor([6], &[-1; 6])?;
    spread_rows::with(options()).launch(&first, &mut c)?;
    c.to_vec()
}

#[test]
fn rows_behind_one_another() {
    assert_eq!(spread(&[-1, 1, 1, 4, 5]).unwrap(), [0, 2, 2, 2, 3, -1]);
}

#[test]
fn rows_that_are_not_sorted() {
    let error = spread(&[0, 2, -3, 4]).unwrap_err();
    let text = error.to_string();
    let Error::Assumption(found) = error else { panic!("{text}") };
    let AssumptionError::Unsorted { line, tensor, at, value, before, .. } = *found else {
        panic!("{text}")
    };
    assert_eq!((tensor.as_str(), at, value.as_str(), before.as_str()), ("first", 2, "-3", "2"));
    let source = include_str!("../src/assumed.rs");
    let stated = source.lines().nth(line as usize - 1).unwrap_or_default();
    assert_eq!(stated.trim(), "assume(sorted(first));");
    let end = "does not hold: first[2] is -3, and first[1] before it is 2";
    assert!(text.ends_with(end), "{text}");
}

/// What `own_slots` makes of `slot`.
fn slotted(slot: &[i32]) -> Result<Vec<i32>, Error> {
    let dev = Device::cpu();
    let x: Vec<i32> = (100..).take(slot.len()).collect();
    let slot = dev.tensor([slot.len()], slot)?;
    let x = dev.tensor([x.len()], &x)?;
    let mut c = dev.tensor([4 * x.shape()[0]], &vec![0; 4 * x.shape()[0]])?;
    own_slots::with(options()).launch(&slot, &x, &mut c)?;
    c.to_vec()
}

#[test]
fn a_condition_that_holds() {
    let mut expected = vec![0; 20];
    for (i, k) in [3, 0, 2, 1, 3].into_iter().enumerate() {
        expected[4 * i + k] = 100 + i as i32;
    }
    assert_eq!(slotted(&[3, 0, 2, 1, 3]).unwrap(), expected);
}

#[test]
fn a_condition_that_does_not_hold() {
    let error = slotted(&[3, 0, 2, 1, 3, 0, 4, -1]).unwrap_err();
    let Error::Assumption(found) = error else { panic!("{error}") };
    let text = found.to_string();
    let AssumptionError::Condition { file, line, .. } = *found else { panic!("{text}") };
    let source = include_str!("../src/assumed.rs");
    let stated = source.lines().nth(line as usize - 1).unwrap_or_default();
    assert_eq!(stated.trim(), "assume(k >= 0 && k < 4);");
    assert_eq!(
        text,
        format!(
            "`assume(k >= 0 && k < 4)` of `own_slots` ({file}:{line}) does not hold for \
             work-item (tx = 2) of block (bx = 1): k = 4"
        )
    );
}

#[test]
fn points_of_a_cooperative_loop() {
    let dev = Device::cpu();
    let x = dev.tensor([6], &[1, 2, 3, 4, 5, 6]).unwrap();
    let mut c = dev.tensor([12], &[0; 12]).unwrap();
    strided::with(options()).launch(2, &x, &mut c).unwrap();
    assert_eq!(c.to_vec().unwrap(), [1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 6, 0]);
    let error = strided::with(options()).launch(0, &x, &mut c).unwrap_err();
    let text = error.to_string();
    assert!(
        text.contains("does not hold for work-item (j = 0) of block (bx = 0): stride = 0"),
        "{text}"
    );
}

#[test]
fn places_within_a_block() {
    let dev = Device::cpu();
    for (tile, rows) in [(2, 5), (8, 3), (64, 2)] {
        let keys: Vec<i32> = (0..rows * tile).map(|i| (i * 37 + 11) as i32 % 29 - 14).collect();
        let device_keys = dev.tensor([rows, tile], &keys).unwrap();
        let mut c = dev.tensor([rows, tile], &vec![0; keys.len()]).unwrap();
        let options = Options::new().tile("TN", tile as u32);
        merged::with(options).launch(&device_keys, &mut c).unwrap();
        let mut sorted = keys;
        sorted.chunks_mut(tile).for_each(<[i32]>::sort_unstable);
        assert_eq!(c.to_vec().unwrap(), sorted, "TN = {tile}");
    }
}

/// What `listed_pairs` makes of two blocks of two elements, 1 to 4.
fn paired(first: [i32; 2], list: [i32; 4]) -> Result<Vec<i32>, Error> {
    let dev = Device::cpu();
    let first = dev.tensor([2], &first)?;
    let list = dev.tensor([2, 2], &list)?;
    let x = dev.tensor([2, 2], &[1, 2, 3, 4])?;
    let mut c = dev.tensor([9], &[0; 9])?;
    listed_pairs::with(Options::new().tile("TN", 2)).launch(&first, &list, &x, &mut c)?;
    c.to_vec()
}

#[test]
fn places_within_a_launch() {
    assert_eq!(paired([0, 4], [2, 0, 0, 3]).unwrap(), [2, 4, 1, 2, 3, 6, 0, 4, 8]);
}

#[test]
fn places_that_two_have() {
    let source = include_str!("../src/assumed.rs");
    let found = |error: Error| {
        let Error::Assumption(found) = error else { panic!("{error}") };
        let AssumptionError::Shared { file, line, .. } = found.as_ref() else { panic!("{found}") };
        let stated = source.lines().nth(*line as usize - 1).unwrap_or_default();
        assert_eq!(stated.trim(), "assume(distinct_in_grid(place, place + 1));");
        found.to_string().replace(&format!("({file}:{line}) "), "")
    };
    let begin = "`assume(distinct_in_grid(place, place + 1))` of `listed_pairs` does not hold: ";
    // One work-item's second place is the next one's first.
    assert_eq!(
        found(paired([0, 4], [0, 1, 0, 2]).unwrap_err()),
        format!(
            "{begin}work-item (tx = 1) of block (bx = 0) has place = 1, place + 1 = 2, of which \
             work-item (tx = 0) of block (bx = 0) has one"
        )
    );
    // So it is between blocks, whichever comes first.
    let text = found(paired([0, 4], [0, 2, 0, -1]).unwrap_err());
    let places = ["work-item (tx = 1) of block (bx = 0)", "work-item (tx = 1) of block (bx = 1)"];
    assert!(text.starts_with(begin) && places.iter().all(|place| text.contains(place)), "{text}");
}
