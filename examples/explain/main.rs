//! What a launch of a gallery kernel costs, and why, on a device that need not be there.
//!
//! ```sh
//! cargo run --release --example explain                                  # what there is
//! cargo run --release --example explain -- tiled_matmul --device A100 --shape 1024 1024 1024
//! cargo run --release --example explain -- tiled_matmul --tile TM=16 --tile TN=16 --tile TK=16
//! cargo run --release --example explain -- box_blur --scalar radius=5
//! cargo run --release --example explain -- matrix_add_tiled --json
//! cargo run --release --example explain -- tiled_matmul --svg roofline.svg
//! ```
//!
//! prints roofline, traffic, occupancy, what each access takes, and what the numbers say
//! should be changed. Registers are estimated; with `--compile`, and NVRTC, the compiler
//! says them.

mod plot;

use std::path::PathBuf;
use std::process::ExitCode;
use std::str::FromStr;

use clap::Parser;
use tile_examples::all;
use tile_runtime::ir::device::{all_known, known, textbook};
use tile_runtime::{DeviceProperties, Kernel, Options, Report};

/// Explains what a launch of a gallery kernel costs; without a name, lists the kernels and
/// the devices.
#[derive(Parser)]
#[command(name = "explain")]
struct Arguments {
    /// The kernel.
    name: Option<String>,
    /// The device, by its name or a short one.
    #[arg(long, default_value = "H200")]
    device: String,
    /// Its dimensions, in the order in which the list names them; one for all.
    #[arg(long, num_args = 1.., default_value = "4096")]
    shape: Vec<usize>,
    /// The type of its elements, where it has several.
    #[arg(long = "type")]
    of_type: Option<String>,
    /// A tile size: `TM=16`.
    #[arg(long = "tile", value_parser = tile_size)]
    tiles: Vec<(String, u32)>,
    /// A scalar argument: `radius=5`; those of the gallery's launches where nothing is said.
    #[arg(long = "scalar", value_parser = scalar)]
    scalars: Vec<(String, f64)>,
    /// Has the kernel compiled for its registers.
    #[arg(long)]
    compile: bool,
    /// Prints JSON.
    #[arg(long)]
    json: bool,
    /// Draws the roofline, with points for several tile sizes, to this file.
    #[arg(long)]
    svg: Option<PathBuf>,
}

type Error = Box<dyn std::error::Error>;

fn tile_size(text: &str) -> Result<(String, u32), String> {
    pair(text).ok_or_else(|| "it is given as NAME=SIZE".to_owned())
}

fn scalar(text: &str) -> Result<(String, f64), String> {
    pair(text).ok_or_else(|| "it is given as NAME=NUMBER".to_owned())
}

/// `NAME=VALUE`
fn pair<T: FromStr>(text: &str) -> Option<(String, T)> {
    let (name, value) = text.split_once('=')?;
    Some((name.to_owned(), value.parse().ok()?))
}

fn main() -> ExitCode {
    match run(&Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("explain: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &Arguments) -> Result<(), Error> {
    let Some(name) = &arguments.name else {
        print_list();
        return Ok(());
    };
    let mut kernel = find(name, arguments.of_type.as_deref())?;
    for (name, value) in &arguments.scalars {
        kernel = kernel.scalar(name, *value);
    }
    let device = known(&arguments.device).ok_or_else(|| {
        format!("`{}` is not known; without a name, all are listed", arguments.device)
    })?;
    let n_dims = kernel.dims().len();
    let shape = match arguments.shape[..] {
        [extent] => vec![extent; n_dims],
        _ => arguments.shape.clone(),
    };
    let mut options = Options::new();
    for (name, size) in &arguments.tiles {
        options = options.tile(name, *size);
    }
    let registers = match arguments.compile {
        true => Some(kernel.compiled_registers(&options, &device, &shape)?),
        false => None,
    };
    let report = kernel.explain_with(&options, &device, &shape, registers)?;
    if arguments.json {
        println!("{}", serde_json::to_string_pretty(&report)?);
    } else {
        print!("{report}");
    }
    if let Some(file) = &arguments.svg {
        let others = other_tiles(&kernel, &device, &shape);
        std::fs::write(file, plot::roofline(&device, &report, &others)?)?;
    }
    Ok(())
}

fn print_list() {
    println!("kernels, their dimensions and scalars:");
    for kernel in kernels() {
        let name = format!("{kernel:?}").replace("Kernel ", "");
        let names = [kernel.dims(), kernel.scalars()].map(|names| names.join(" "));
        println!("{}", format!("    {name:28} {:16} {}", names[0], names[1]).trim_end());
    }
    println!("devices:");
    for device in all_known().into_iter().chain(textbook()) {
        println!("    {}", device.name);
    }
}

fn kernels() -> Vec<Kernel> {
    all().iter().flat_map(|entry| (entry.kernels)()).collect()
}

fn find(name: &str, of_type: Option<&str>) -> Result<Kernel, Error> {
    let named = kernels().into_iter().filter(|kernel| kernel.name() == name);
    let mut typed = named.filter(|kernel| {
        of_type.is_none_or(|wanted| kernel.types().first().is_some_and(|ty| ty.name() == wanted))
    });
    typed
        .next()
        .ok_or_else(|| format!("there is no `{name}`; without a name, all are listed").into())
}

/// Reports with all tiles of one size, of those sizes that the kernel admits.
fn other_tiles(kernel: &Kernel, device: &DeviceProperties, shape: &[usize]) -> Vec<(u32, Report)> {
    const SIZES: [u32; 6] = [4, 8, 16, 32, 64, 128];
    let of = |size: u32| {
        let mut options = Options::new();
        for name in kernel.tiles() {
            options = options.tile(name, size);
        }
        Some((size, kernel.explain_with(&options, device, shape, None).ok()?))
    };
    SIZES.into_iter().filter_map(of).collect()
}
