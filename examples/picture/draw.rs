//! The example's own picture: hills before an evening sky, and what a blur shows best,
//! thin lines and a board of squares.

use crate::file::Picture;

const ROWS: usize = 240;
const COLS: usize = 320;

/// Draws it, pixel by pixel, the same each time.
pub(crate) fn picture() -> Picture {
    let pixels = (0..ROWS).flat_map(|row| (0..COLS).map(move |col| pixel(row, col)));
    Picture { shape: [ROWS, COLS], bytes: pixels.flatten().collect() }
}

/// What lies in front at a place.
fn pixel(row: usize, col: usize) -> [u8; 3] {
    let (y, x) = (row as f32, col as f32);
    let near = 190.0 + 14.0 * triangle(x / 90.0 + 0.3);
    let far = 150.0 + 26.0 * triangle(x / 140.0);
    // A fence of thin lines along the near hill.
    let is_fence = y > near - 12.0 && y < near && (col.is_multiple_of(8) || row.is_multiple_of(6));
    if (200..232).contains(&row) && (24..104).contains(&col) {
        let is_white = (row / 8 + col / 8).is_multiple_of(2);
        return if is_white { [245, 240, 225] } else { [40, 30, 60] };
    }
    if y >= near {
        return mixed([38, 84, 52], [18, 46, 34], (y - near) / 60.0);
    }
    if is_fence {
        return [60, 40, 30];
    }
    if y >= far {
        return mixed([92, 116, 120], [58, 98, 84], (y - far) / 50.0);
    }
    let (down, across) = (y - 84.0, x - 226.0);
    if down * down + across * across < 30.0 * 30.0 {
        return [255, 214, 120];
    }
    mixed([36, 48, 112], [250, 158, 108], y / 165.0)
}

/// Up from 0 to 1 and down again for every 1 that `x` grows.
fn triangle(x: f32) -> f32 {
    1.0 - (2.0 * x.fract() - 1.0).abs()
}

/// A share `of` the second colour, the rest of the first.
fn mixed(first: [u8; 3], second: [u8; 3], of: f32) -> [u8; 3] {
    let share = of.clamp(0.0, 1.0);
    // Between two bytes.
    let mix = |channel: usize| {
        let (first, second) = (f32::from(first[channel]), f32::from(second[channel]));
        (first + (second - first) * share).round() as u8
    };
    [0, 1, 2].map(mix)
}
