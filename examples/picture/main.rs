//! Makes a picture grey and blurs it: two kernels of the gallery on a PNG file.
//!
//! ```sh
//! cargo run --release --example picture -- --in examples/picture.png --out blurred.png --radius 3
//! ```
//!
//! prints the device, what was read and what was written. Any PNG will do: grey, RGB,
//! with a palette, 16 bits, interlaced; what is transparent is put on white. `--draw` is
//! the program that has drawn `picture.png`.

mod draw;
mod file;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;
use tile_examples::box_blur::box_blur;
use tile_examples::grey::grey;
use tile_runtime::Device;

/// Makes a picture grey and blurs it.
#[derive(Parser)]
#[command(name = "picture")]
struct Arguments {
    /// The PNG file to read.
    #[arg(long = "in", value_name = "FILE", default_value = concat!(env!("CARGO_MANIFEST_DIR"), "/picture.png"))]
    input: PathBuf,
    /// The PNG file to write.
    #[arg(long = "out", value_name = "FILE", default_value = "blurred.png")]
    output: PathBuf,
    /// How far the mean that each pixel becomes reaches to all sides, in pixels; 0 only
    /// makes the picture grey.
    #[arg(long, default_value_t = 3)]
    radius: u8,
    /// Writes the example's own picture to this file, and does nothing else.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["input", "output", "radius"])]
    draw: Option<PathBuf>,
}

fn main() -> ExitCode {
    match run(&Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("picture: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &Arguments) -> Result<(), Box<dyn std::error::Error>> {
    if let Some(path) = &arguments.draw {
        return Ok(file::write_rgb(path, &draw::picture())?);
    }
    let picture = file::read_rgb(&arguments.input)?;
    let shape @ [rows, cols] = picture.shape;
    let device = Device::best()?;
    println!("{}", device.name());
    println!("read {}: {cols} by {rows} pixels", arguments.input.display());

    let rgb = device.tensor([rows, cols, 3], &picture.bytes)?;
    let mut luminance = device.zeros(shape)?;
    grey::launch(&rgb, &mut luminance)?;
    let mut blurred = device.zeros(shape)?;
    box_blur::launch(arguments.radius, &luminance, &mut blurred)?;

    file::write_grey(&arguments.output, &file::Picture { shape, bytes: blurred.to_vec()? })?;
    println!("wrote {}: grey, radius {}", arguments.output.display(), arguments.radius);
    Ok(())
}
