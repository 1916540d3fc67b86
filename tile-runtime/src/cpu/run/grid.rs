//! From the linear number of a block to its coordinates.

use tile_ir::program::Raster;

/// The coordinates of block `linear` in a grid of these extents, all positive.
pub(in crate::cpu) fn block_coords(
    raster: Raster,
    extents: &[i64],
    linear: u64,
    coords: &mut Vec<i64>,
) {
    coords.clear();
    coords.resize(extents.len(), 0);
    let rows = match raster {
        Raster::RowMajor => 1,
        Raster::Grouped { rows } => i64::from(rows.max(1)),
    };
    let mut rest = linear;
    let split = extents.len().saturating_sub(2);
    let (outer, plane) = extents.split_at(split);
    let plane_blocks: u64 = plane.iter().map(|extent| extent.unsigned_abs()).product();
    let within = rest % plane_blocks.max(1);
    rest /= plane_blocks.max(1);
    for (coord, extent) in coords.iter_mut().zip(outer).rev() {
        *coord = (rest % extent.unsigned_abs()) as i64;
        rest /= extent.unsigned_abs();
    }
    match *plane {
        [height, width] => {
            let within = within as i64;
            let band = within / (rows * width);
            let within_band = within % (rows * width);
            let band_rows = rows.min(height - band * rows);
            coords[split] = band * rows + within_band % band_rows;
            coords[split + 1] = within_band / band_rows;
        }
        [_] => coords[split] = within as i64,
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(raster: Raster, extents: &[i64], expect: &[&[i64]]) {
        let mut coords = Vec::new();
        for (linear, expect) in (0..).zip(expect) {
            block_coords(raster, extents, linear, &mut coords);
            assert_eq!(coords, *expect, "block {linear} of {extents:?}");
        }
    }

    #[test]
    fn orders() {
        check(Raster::RowMajor, &[], &[&[]]);
        check(Raster::RowMajor, &[3], &[&[0], &[1], &[2]]);
        check(Raster::RowMajor, &[2, 2], &[&[0, 0], &[0, 1], &[1, 0], &[1, 1]]);
        check(
            Raster::Grouped { rows: 2 },
            &[3, 2],
            &[&[0, 0], &[1, 0], &[0, 1], &[1, 1], &[2, 0], &[2, 1]],
        );
        let last = [&[0, 1, 1][..], &[1, 0, 0], &[1, 1, 0]];
        let first = [&[0, 0, 0][..], &[0, 1, 0], &[0, 0, 1]];
        check(Raster::Grouped { rows: 8 }, &[2, 2, 2], &[first, last].concat());
    }
}
