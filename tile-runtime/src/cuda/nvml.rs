//! The clocks that a device runs at, from NVML, the driver's management library: a
//! measurement means little where nobody knows them. It is loaded when it is first
//! asked; where it is not there, nothing is known.

use std::ffi::{CString, c_char, c_int, c_uint, c_void};
use std::sync::OnceLock;

use cudarc::driver::sys::CUdevice_attribute as Attribute;
use libloading::Library;

use super::context::CudaDevice;
use crate::tune::Clocks;

#[cfg(not(windows))]
const NAMES: [&str; 2] = ["libnvidia-ml.so.1", "libnvidia-ml.so"];
#[cfg(windows)]
const NAMES: [&str; 1] = ["nvml.dll"];

/// Domains of `nvmlClockType_t`.
///
/// # Source
///
/// NVML API reference, "Device Enums".
const CLOCK_SM: c_int = 1;
const CLOCK_MEMORY: c_int = 2;

/// `nvmlDevice_t`: an opaque handle.
type RawDevice = *mut c_void;
/// A device of NVML's, which stays valid as long as NVML is loaded.
#[derive(Clone, Copy, Debug)]
pub(super) struct ManagedDevice(RawDevice);

// SAFETY: the handle is opaque and never changes, and NVML's functions may be called from
// any thread (NVML API reference, "Known issues": the library is thread-safe).
unsafe impl Send for ManagedDevice {}
// SAFETY: as above.
unsafe impl Sync for ManagedDevice {}

/// `nvmlReturn_t`: 0 is success.
type RawResult = c_int;

/// The functions that we call.
struct Nvml {
    by_bus_id: unsafe extern "C" fn(*const c_char, *mut RawDevice) -> RawResult,
    clock_mhz: unsafe extern "C" fn(RawDevice, c_int, *mut c_uint) -> RawResult,
}

/// NVML, looked for once.
fn nvml() -> Option<&'static Nvml> {
    static FOUND: OnceLock<Option<Nvml>> = OnceLock::new();
    FOUND.get_or_init(load).as_ref()
}

fn load() -> Option<Nvml> {
    // SAFETY: loading runs the library's initialisers; it is the driver's by its name,
    // and its initialisers ask for nothing.
    let library = NAMES.iter().find_map(|name| unsafe { Library::new(*name) }.ok())?;
    type Init = unsafe extern "C" fn() -> RawResult;
    // SAFETY: the types are those of the functions' documented signatures.
    let (init, by_bus_id, clock_mhz) = unsafe {
        (
            *library.get::<Init>(b"nvmlInit_v2\0").ok()?,
            *library.get(b"nvmlDeviceGetHandleByPciBusId_v2\0").ok()?,
            *library.get(b"nvmlDeviceGetClockInfo\0").ok()?,
        )
    };
    // The functions' addresses are kept, so the library must never be unloaded.
    std::mem::forget(library);
    // SAFETY: it takes nothing.
    let code = unsafe { init() };
    (code == 0).then_some(Nvml { by_bus_id, clock_mhz })
}

impl CudaDevice {
    /// The clocks that it runs at now; nothing where NVML does not tell.
    pub(crate) fn clocks(&self) -> Option<Clocks> {
        let nvml = nvml()?;
        let ManagedDevice(device) = self.managed(|| self.find_managed(nvml))?;
        let clock = |domain| {
            let mut mhz: c_uint = 0;
            // SAFETY: the handle is NVML's own and never becomes invalid; the clock goes to
            // a live place.
            let code = unsafe { (nvml.clock_mhz)(device, domain, &mut mhz) };
            (code == 0).then_some(mhz)
        };
        Some(Clocks { sm_mhz: clock(CLOCK_SM)?, memory_mhz: clock(CLOCK_MEMORY)? })
    }

    /// The device, which NVML knows by its place on the bus.
    fn find_managed(&self, nvml: &Nvml) -> Option<ManagedDevice> {
        let id = |attribute| self.attribute(attribute);
        let bus_id = format!(
            "{:08x}:{:02x}:{:02x}.0",
            id(Attribute::CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID)?,
            id(Attribute::CU_DEVICE_ATTRIBUTE_PCI_BUS_ID)?,
            id(Attribute::CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID)?,
        );
        let bus_id = CString::new(bus_id).ok()?;
        let mut device: RawDevice = std::ptr::null_mut();
        // SAFETY: the text ends with NUL and lives across the call; the handle goes to a
        // live place.
        let code = unsafe { (nvml.by_bus_id)(bus_id.as_ptr(), &mut device) };
        (code == 0).then_some(ManagedDevice(device))
    }
}

#[cfg(test)]
mod tests {
    /// Where there is no driver there is no NVML, and nothing is known.
    #[test]
    fn it_may_be_missing() {
        let found = super::nvml().is_some();
        assert!(!found || crate::cuda::driver_found().is_ok());
    }
}
