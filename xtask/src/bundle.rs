//! `cargo xtask bundle`: one folder that tests and measures on a machine with a
//! GPU and without Rust.
//!
//! The folder holds binaries that test and measure kernels, measure the gallery of
//! examples, measure against cuBLAS and the driver's copy, measure the tuner, and
//! compare predicted counters with those of Nsight Compute; the comparison against
//! PyTorch; and the script that runs them. The binaries need nothing but the C library;
//! the driver, NVRTC and cuBLAS are looked for when they run.

use std::fs;
use std::path::Path;

use crate::{Failure, steps::Steps};

/// What goes into the bundle, from the workspace's root; the files keep their
/// names.
const FILES: [&str; 7] = [
    "target/bundle/gpu",
    "target/bundle/gallery",
    "target/bundle/peers",
    "target/bundle/tuner",
    "target/bundle/counters",
    "benches/torch_peers.py",
    "benches/run.sh",
];

/// Those of them that are run.
const BINARIES: [&str; 5] = ["gpu", "gallery", "peers", "tuner", "counters"];

/// Each of the binaries brings the checker along, which is most of it.
const MOST_BYTES: u64 = 50_000_000;

/// The C library of the oldest system that the bundle must run on (Debian 12).
const GLIBC_MINOR: u32 = 36;

/// Builds the binaries and fills `bundle/`.
pub(crate) fn bundle() -> Result<(), Failure> {
    let mut steps = Steps::default();
    let mut build = crate::cargo();
    build.args(["build", "--profile", "bundle", "--bins", "--locked"]);
    build.args(["--package", "tile-benches", "--package", "tile-gpu"]);
    steps.command("build", &mut build)?;
    steps.run("gather", || gather(&crate::root()))?;
    steps.print_table();
    println!("run it with: bundle/run.sh FOLDER_FOR_THE_FIGURES");
    Ok(())
}

fn gather(root: &Path) -> Result<(), Failure> {
    let bundle = root.join("bundle");
    if bundle.exists() {
        fs::remove_dir_all(&bundle)?;
    }
    fs::create_dir(&bundle)?;
    let mut bytes = 0;
    for file in FILES {
        let source = root.join(file);
        let name = source.file_name().expect("the files have names");
        bytes +=
            fs::copy(&source, bundle.join(name)).map_err(|error| format!("{file}: {error}"))?;
    }
    let minors = BINARIES.map(|name| fs::read(bundle.join(name)).map(|b| newest_glibc_minor(&b)));
    let minors: Vec<u32> = minors.into_iter().collect::<Result<_, _>>()?;
    let minor = minors.into_iter().max().unwrap_or(0);
    if minor > GLIBC_MINOR {
        return Err(format!("the binaries need glibc 2.{minor}; 2.{GLIBC_MINOR} is there").into());
    }
    if bytes > MOST_BYTES {
        return Err(format!("the bundle has {bytes} bytes; {MOST_BYTES} are allowed").into());
    }
    println!("bundle: {:.1} MB, glibc 2.{minor} or newer", bytes as f64 / 1e6);
    Ok(())
}

/// The newest version of the C library that a binary's symbols ask for, as *n*
/// of 2.*n*; 0 where it asks for none.
fn newest_glibc_minor(binary: &[u8]) -> u32 {
    const PREFIX: &[u8] = b"GLIBC_2.";
    let versions = binary.windows(PREFIX.len()).enumerate().filter(|(_, bytes)| *bytes == PREFIX);
    let minors = versions.map(|(at, _)| {
        let digits = binary[at + PREFIX.len()..].iter().take_while(|byte| byte.is_ascii_digit());
        digits.fold(0, |minor, digit| minor * 10 + u32::from(digit - b'0'))
    });
    minors.max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::newest_glibc_minor;

    #[test]
    fn the_newest_symbol_version_counts() {
        assert_eq!(newest_glibc_minor(b"\0GLIBC_2.2.5\0GLIBC_2.34\0GLIBC_2.17\0"), 34);
        assert_eq!(newest_glibc_minor(b"no symbols"), 0);
    }
}
