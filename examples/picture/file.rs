//! PNG files as bytes of pixels, and back.

use std::fs::File;
use std::io::{BufReader, BufWriter};
use std::path::{Path, PathBuf};

use png::{ColorType, Decoder, DecodingError, Encoder, EncodingError, Limits, Transformations};

/// A picture's bytes, row by row, and its rows and columns.
pub(crate) struct Picture {
    pub(crate) shape: [usize; 2],
    /// One byte a pixel, or three: red, green, blue.
    pub(crate) bytes: Vec<u8>,
}

/// Why a picture could not be read or written.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    #[error("cannot open {}: {source}", path.display())]
    Open { path: PathBuf, source: std::io::Error },
    #[error("cannot read {} as a PNG: {source}", path.display())]
    Read { path: PathBuf, source: DecodingError },
    #[error("{} has {cols} by {rows} pixels; at most {} are taken", path.display(), MAX_PIXELS)]
    Large { path: PathBuf, rows: u32, cols: u32 },
    #[error("cannot write {}: {source}", path.display())]
    Create { path: PathBuf, source: std::io::Error },
    #[error("cannot write {}: {source}", path.display())]
    Write { path: PathBuf, source: EncodingError },
}

/// What a header says is believed up to here.
const MAX_PIXELS: u64 = 1 << 28;

/// Reads a PNG of any kind as red, green and blue, on white where it is transparent.
pub(crate) fn read_rgb(path: &Path) -> Result<Picture, Error> {
    let failed = |source| Error::Read { path: path.to_owned(), source };
    let opened = File::open(path);
    let opened = opened.map_err(|source| Error::Open { path: path.to_owned(), source })?;
    // A row of the most pixels, of eight bytes each, and what is kept beside it.
    let limits = Limits { bytes: 1 << 32 };
    let mut decoder = Decoder::new_with_limits(BufReader::new(opened), limits);
    decoder.set_transformations(Transformations::EXPAND | Transformations::STRIP_16);
    let mut reader = decoder.read_info().map_err(failed)?;
    let (cols, rows) = reader.info().size();
    let large = || Error::Large { path: path.to_owned(), rows, cols };
    if u64::from(cols) * u64::from(rows) > MAX_PIXELS {
        return Err(large());
    }
    let mut bytes = vec![0; reader.output_buffer_size().ok_or_else(large)?];
    reader.next_frame(&mut bytes).map_err(failed)?;
    let color = reader.output_color_type().0;
    let pixels = bytes.chunks_exact(color.samples());
    let bytes = pixels.flat_map(|pixel| on_white(color, pixel)).collect();
    Ok(Picture { shape: [rows as usize, cols as usize], bytes })
}

/// A pixel's red, green and blue.
fn on_white(color: ColorType, pixel: &[u8]) -> [u8; 3] {
    let over = |value: u8, alpha: u8| {
        let (value, alpha) = (u32::from(value), u32::from(alpha));
        // A mean of two bytes is one.
        ((value * alpha + 255 * (255 - alpha) + 127) / 255) as u8
    };
    match color {
        // `EXPAND` has turned an index into its colour.
        ColorType::Grayscale | ColorType::Indexed => [pixel[0]; 3],
        ColorType::GrayscaleAlpha => [over(pixel[0], pixel[1]); 3],
        ColorType::Rgb => [pixel[0], pixel[1], pixel[2]],
        ColorType::Rgba => [0, 1, 2].map(|channel| over(pixel[channel], pixel[3])),
    }
}

/// Writes a picture of three bytes a pixel.
pub(crate) fn write_rgb(path: &Path, picture: &Picture) -> Result<(), Error> {
    write(path, picture, ColorType::Rgb)
}

/// Writes a picture of one byte a pixel.
pub(crate) fn write_grey(path: &Path, picture: &Picture) -> Result<(), Error> {
    write(path, picture, ColorType::Grayscale)
}

fn write(path: &Path, picture: &Picture, color: ColorType) -> Result<(), Error> {
    let failed = |source| Error::Write { path: path.to_owned(), source };
    let created = File::create(path);
    let created = created.map_err(|source| Error::Create { path: path.to_owned(), source })?;
    let [rows, cols] = picture.shape.map(|extent| u32::try_from(extent).unwrap_or(u32::MAX));
    let mut encoder = Encoder::new(BufWriter::new(created), cols, rows);
    encoder.set_color(color);
    let mut writer = encoder.write_header().map_err(failed)?;
    writer.write_image_data(&picture.bytes).map_err(failed)?;
    writer.finish().map_err(failed)
}
