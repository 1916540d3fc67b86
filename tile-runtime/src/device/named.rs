//! Devices by name, as programs take them from their command line.

use std::str::FromStr;

use super::Device;
use crate::error::{EnvironmentError, Error, Result};

/// Opens a device by its name: `best` ([`Device::best`]), `cpu` ([`Device::cpu`]), `cuda` or
/// `cuda:1` ([`Device::cuda`]), `cpu:H200` for the CPU with the limits of a known device
/// ([`Device::cpu_like`]).
///
/// ```
/// # fn main() -> tile_runtime::Result<()> {
/// let device: tile_runtime::Device = "cpu".parse()?;
/// assert!(device.is_cpu());
/// # Ok(())
/// # }
/// ```
impl FromStr for Device {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        let unknown = || EnvironmentError::UnknownName { name: name.to_owned() };
        match name.split_once(':') {
            None if name == "best" => Self::best(),
            None if name == "cpu" => Ok(Self::cpu()),
            None if name == "cuda" => Self::cuda(0),
            Some(("cpu", like)) => {
                Ok(Self::cpu_like(&tile_ir::device::known(like).ok_or_else(unknown)?))
            }
            Some(("cuda", number)) => Self::cuda(number.parse().map_err(|_| unknown())?),
            _ => Err(unknown().into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cpu_has_a_name() {
        assert!("cpu".parse::<Device>().is_ok_and(|device| device.is_cpu()));
    }

    #[test]
    fn the_cpu_is_like_known_devices() {
        let device = |name: &str| name.parse::<Device>().expect("the device is known");
        let (cpu, h200, t4) = (device("cpu"), device("cpu:H200"), device("cpu:t4"));
        assert!(h200.is_cpu() && h200 != cpu && h200 != t4);
        assert_eq!(h200, device("cpu:NVIDIA H200"));
        assert_eq!(h200.name(), "CPU like NVIDIA H200");
        assert_eq!(t4.properties().shared_bytes_per_sm, 64 << 10);
        assert_eq!(t4.properties().compute_capability, (7, 5));
    }

    #[test]
    fn other_names_are_no_devices() {
        for name in ["tpu", "cpu:0", "cpu:", "cuda:", "cuda:x", "best:1", ""] {
            let error = name.parse::<Device>().expect_err("it names no device").to_string();
            assert!(error.contains(&format!("`{name}` is no device")), "{error}");
        }
    }
}
