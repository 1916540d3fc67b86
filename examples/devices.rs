//! Prints what this machine has for running kernels: driver, NVRTC, devices, and
//! what is missing and how to get it.
//!
//! ```sh
//! cargo run --example devices
//! ```

fn main() {
    print!("{}", tile_runtime::diagnose());
}
