//! Tile parameters that stand alone as extents are what the arguments' shapes say.

use tile_examples::attention::attention;
use tile_runtime::{Device, Options};

/// One query and one key of this width: the value comes back.
fn attend(width: usize, options: Options) -> tile_runtime::Result<Vec<f32>> {
    let device = Device::cpu();
    let row: Vec<f32> = (0..width).map(|x| x as f32).collect();
    let [q, k, v] = [
        device.tensor([1, width], &row)?,
        device.zeros([1, width])?,
        device.tensor([1, width], &row)?,
    ];
    let mut o = device.zeros([1, width])?;
    attention::with(options).launch(&q, &k, &v, 1.0, &mut o)?;
    o.to_vec()
}

#[test]
fn listed_widths() {
    for width in [32, 64, 128] {
        let expected: Vec<f32> = (0..width).map(|x| x as f32).collect();
        assert_eq!(attend(width, Options::new()).unwrap(), expected);
    }
}

#[test]
fn a_width_that_is_not_listed() {
    let error = attend(48, Options::new()).unwrap_err().to_string();
    assert!(
        error.contains("`D`") && error.contains("48") && error.contains("[32, 64, 128]"),
        "{error}"
    );
}

#[test]
fn a_width_that_the_options_contradict() {
    let error = attend(64, Options::new().tile("D", 32)).unwrap_err().to_string();
    assert!(error.contains("axis 1 is 64") && error.contains("D = 32"), "{error}");
}
