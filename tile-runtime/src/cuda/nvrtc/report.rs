//! What the assembler says about the kernels it has compiled.

use serde::{Deserialize, Serialize};

/// What a compilation took and gave.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct CompileReport {
    /// Wall time in milliseconds.
    pub milliseconds: u64,
    /// Each kernel's resources, in the order of the log. Empty where the image
    /// is PTX, which the driver assembles.
    pub kernels: Vec<KernelResources>,
}

/// What one kernel takes of an SM.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct KernelResources {
    /// Its entry point.
    pub name: String,
    /// 32-bit registers per thread.
    pub registers: u32,
    /// Stack per thread, in bytes.
    pub stack_bytes: u32,
    /// Stores of spilled registers, in bytes per thread.
    pub spill_store_bytes: u32,
    /// Loads of spilled registers, in bytes per thread.
    pub spill_load_bytes: u32,
    /// Static shared memory per block, in bytes.
    pub shared_bytes: u32,
}

/// Reads the lines that `--ptxas-options=-v` puts into the log.
///
/// # Source
///
/// The log of NVRTC 12.9, 13.0 and 13.5, e.g.
/// `ptxas info    : Used 48 registers, used 1 barriers, 8448 bytes smem`.
pub(super) fn parse(log: &str) -> Vec<KernelResources> {
    let mut kernels: Vec<KernelResources> = Vec::new();
    for line in log.lines() {
        if let Some(rest) = line.split_once("Compiling entry function '").map(|(_, rest)| rest) {
            let name = rest.split('\'').next().unwrap_or_default().to_owned();
            kernels.push(KernelResources { name, ..KernelResources::default() });
        }
        let Some(kernel) = kernels.last_mut() else { continue };
        for item in line.split(&[',', ':'][..]).map(str::trim) {
            let item = item.strip_prefix("Used ").unwrap_or(item);
            let Some((number, what)) = item.split_once(' ') else { continue };
            let Ok(number) = number.parse::<u32>() else { continue };
            match what.trim() {
                "registers" => kernel.registers = number,
                "bytes smem" => kernel.shared_bytes = number,
                "bytes stack frame" => kernel.stack_bytes = number,
                "bytes spill stores" => kernel.spill_store_bytes = number,
                "bytes spill loads" => kernel.spill_load_bytes = number,
                _ => {}
            }
        }
    }
    kernels
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_log_of_two_kernels() {
        let log = "ptxas info    : 0 bytes gmem\n\
             ptxas info    : Compiling entry function 'first' for 'sm_90'\n\
             ptxas info    : Function properties for first\n\
             \x20   24 bytes stack frame, 16 bytes spill stores, 20 bytes spill loads\n\
             ptxas info    : Used 48 registers, used 1 barriers, 24 bytes cumulative stack size, \
             8448 bytes smem\n\
             ptxas info    : Compile time = 12.345 ms\n\
             ptxas info    : Compiling entry function 'second' for 'sm_90'\n\
             ptxas info    : Used 10 registers, used 0 barriers\n";
        let first = KernelResources {
            name: "first".into(),
            registers: 48,
            stack_bytes: 24,
            spill_store_bytes: 16,
            spill_load_bytes: 20,
            shared_bytes: 8448,
        };
        let second =
            KernelResources { name: "second".into(), registers: 10, ..KernelResources::default() };
        assert_eq!(parse(log), [first, second]);
    }
}
