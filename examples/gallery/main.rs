//! Runs the kernels of this folder, each checked against its reference.
//!
//! ```sh
//! cargo run --release --example gallery                      # what there is
//! cargo run --release --example gallery -- saxpy
//! cargo run --release --example gallery -- saxpy 1000003 --device cpu
//! cargo run --release --example gallery -- --all
//! ```
//!
//! prints, for each, its sizes, the seconds of a launch and that all is right; of some,
//! too, what `explain` finds, on the device or, where that is the CPU, on an H200.

use std::process::ExitCode;
use std::time::Instant;

use clap::Parser;
use tile_examples::all;
use tile_examples::frame::{Entry, Failure};
use tile_runtime::ir::device::known;
use tile_runtime::{Device, DeviceProperties, Options, Report};

/// Runs kernels of the gallery; without a name, lists them.
#[derive(Parser)]
#[command(name = "gallery")]
struct Arguments {
    /// Which one.
    name: Option<String>,
    /// Its sizes, in the order in which the list names them.
    sizes: Vec<usize>,
    /// All of them, in small sizes.
    #[arg(long, conflicts_with_all = ["name", "sizes"])]
    all: bool,
    /// best, cpu, cuda or cuda:1.
    #[arg(long, default_value = "best")]
    device: Device,
}

fn main() -> ExitCode {
    match run(&Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("gallery: {error}");
            ExitCode::FAILURE
        }
    }
}

type Error = Box<dyn std::error::Error>;

fn run(arguments: &Arguments) -> Result<(), Error> {
    if !arguments.all && arguments.name.is_none() {
        print_list();
        return Ok(());
    }
    let device = &arguments.device;
    println!("{}", device.name());
    let Some(name) = &arguments.name else {
        return all().iter().try_for_each(|entry| check_small(device, entry));
    };
    let entry = find(name)?;
    let sizes = match &arguments.sizes[..] {
        [] => entry.small.last().copied().unwrap_or_default(),
        sizes => sizes,
    };
    Ok(check(device, &entry, sizes)?)
}

fn print_list() {
    for entry in all() {
        println!("{:24} {}; sizes: {}", entry.name, entry.about, entry.sizes.join(", "));
    }
}

fn find(name: &str) -> Result<Entry, Error> {
    let found = all().into_iter().find(|entry| entry.name == name);
    found.ok_or_else(|| format!("there is no `{name}`; without a name, all are listed").into())
}

fn check_small(device: &Device, entry: &Entry) -> Result<(), Error> {
    entry.small.iter().try_for_each(|sizes| Ok(check(device, entry, sizes)?))
}

fn check(device: &Device, entry: &Entry, sizes: &[usize]) -> Result<(), Failure> {
    let mut prepared = entry.prepared(device, sizes)?;
    let start = Instant::now();
    prepared.launch(&Options::new())?;
    device.synchronize()?;
    let seconds = start.elapsed().as_secs_f64();
    prepared.verify()?;
    println!("{} {sizes:?}: first launch {seconds:.3} s, all right", entry.name);
    for report in prepared.reports(&explained(device))? {
        print_findings(&report);
    }
    Ok(())
}

/// The device that is explained.
fn explained(device: &Device) -> DeviceProperties {
    let other = known("H200").filter(|_| device.is_cpu());
    other.unwrap_or_else(|| device.properties().clone())
}

fn print_findings(report: &Report) {
    let micros = report.roofline.predicted_seconds * 1e6;
    println!("    explain: {micros:.1} µs on {}", report.device);
    if report.findings.is_empty() {
        println!("    nothing to be changed");
    }
    for finding in &report.findings {
        let place = match finding.line {
            0 => "the kernel".to_owned(),
            line => format!("line {line}"),
        };
        println!("    {place}: {}", finding.message);
        println!("        {}", finding.advice);
    }
}
