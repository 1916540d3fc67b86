//! The NVIDIA driver's library: whether it is there, starts, and has what we call.

use std::ffi::{c_int, c_uint};
use std::sync::OnceLock;

use libloading::Library;

use crate::diagnose::DriverFound;
use crate::error::{EnvironmentError, Result};

/// The library's names, in the order in which cudarc asks for them.
#[cfg(not(windows))]
const NAMES: [&str; 7] = [
    "libcuda.so",
    "libcuda.so.13",
    "libcuda.so.12",
    "libcuda.so.11",
    "libcuda.so.10",
    "libcuda.so.9",
    "libcuda.so.1",
];
#[cfg(windows)]
const NAMES: [&str; 2] = ["cuda.dll", "nvcuda.dll"];

/// Codes of `CUresult` that say what to do.
///
/// # Source
///
/// CUDA driver API 13.0, "Data types used by CUDA driver".
const STUB_LIBRARY: c_int = 34;
const NO_DEVICE: c_int = 100;
const SYSTEM_NOT_READY: c_int = 802;
const SYSTEM_DRIVER_MISMATCH: c_int = 803;

/// Every driver function that our calls of cudarc reach. cudarc looks each up
/// when it is first called, and panics where it is not there.
const REQUIRED: [&str; 46] = [
    "cuInit",
    "cuDeviceGet",
    "cuDeviceGetCount",
    "cuDeviceGetName",
    "cuDeviceGetAttribute",
    "cuDeviceTotalMem_v2",
    "cuDevicePrimaryCtxRetain",
    "cuDevicePrimaryCtxRelease_v2",
    "cuCtxGetCurrent",
    "cuCtxSetCurrent",
    "cuCtxSynchronize",
    "cuGetErrorString",
    "cuMemGetInfo_v2",
    "cuMemAllocAsync",
    "cuMemFreeAsync",
    "cuMemAlloc_v2",
    "cuMemFree_v2",
    "cuMemcpyHtoDAsync_v2",
    "cuMemcpyDtoHAsync_v2",
    "cuMemcpyDtoDAsync_v2",
    "cuMemsetD8Async",
    "cuModuleLoadData",
    "cuModuleGetFunction",
    "cuModuleUnload",
    "cuFuncGetAttribute",
    "cuFuncSetAttribute",
    "cuLaunchKernel",
    "cuStreamCreate",
    "cuStreamDestroy_v2",
    "cuStreamSynchronize",
    "cuStreamQuery",
    "cuStreamWaitEvent",
    "cuStreamIsCapturing",
    "cuStreamBeginCapture_v2",
    "cuStreamEndCapture",
    "cuEventCreate",
    "cuEventRecord",
    "cuEventSynchronize",
    "cuEventQuery",
    "cuEventDestroy_v2",
    "cuThreadExchangeStreamCaptureMode",
    "cuGraphInstantiateWithFlags",
    "cuGraphLaunch",
    "cuGraphUpload",
    "cuGraphDestroy",
    "cuGraphExecDestroy",
];

/// The functions one of which cudarc's `elapsed_ms` calls: the second where it
/// binds CUDA 13, which it may do where the build's environment decides.
const ELAPSED_TIME: &[&str] = if cfg!(feature = "cuda-13") {
    &["cuEventElapsedTime_v2"]
} else if cfg!(feature = "cuda-12") {
    &["cuEventElapsedTime"]
} else {
    &["cuEventElapsedTime", "cuEventElapsedTime_v2"]
};

/// Why there is no driver, or no device.
type Reason = Box<EnvironmentError>;

/// A driver that has started.
struct Driver {
    library: &'static Library,
    found: DriverFound,
    /// The number of devices, or why there is none that can be used.
    devices: Result<usize, Reason>,
}

/// The driver, looked for once.
fn driver() -> Result<&'static Driver, Reason> {
    static DRIVER: OnceLock<Result<Driver, Reason>> = OnceLock::new();
    DRIVER.get_or_init(look).as_ref().map_err(Clone::clone)
}

/// Number of CUDA devices, at least 1.
///
/// # Errors
///
/// Says what is missing. Where it is `Ok`, every function in [`REQUIRED`] is
/// there and the driver is initialised.
pub(crate) fn device_count() -> Result<usize> {
    Ok(driver()?.devices.clone()?)
}

/// What is known of the driver, devices or not.
pub(crate) fn driver_found() -> Result<DriverFound> {
    Ok(driver()?.found.clone())
}

/// The newest major version of CUDA that the driver serves, if there is one.
pub(crate) fn driver_major() -> Option<u32> {
    driver().ok().map(|driver| driver.found.cuda_version.0).filter(|major| *major > 0)
}

/// The newest version of CUDA that the driver serves, (0, 0) where it does not say.
pub(super) fn cuda_version_served() -> (u32, u32) {
    driver().map_or((0, 0), |driver| driver.found.cuda_version)
}

/// Whether the time between two events can be asked for.
pub(super) fn check_timing() -> Result<()> {
    let driver = driver()?;
    Ok(check_symbols(driver.library, &driver.found.library, ELAPSED_TIME)?)
}

fn check_symbols(library: &Library, name: &str, symbols: &[&'static str]) -> Result<(), Reason> {
    for symbol in symbols {
        let text = format!("{symbol}\0");
        // SAFETY: the address is not called and not kept.
        if unsafe { library.get::<*const ()>(text.as_bytes()) }.is_err() {
            return Err(too_old(name, symbol));
        }
    }
    Ok(())
}

fn look() -> Result<Driver, Reason> {
    let mut loaded = None;
    for name in NAMES {
        // SAFETY: loading runs the library's initialisers; it is the driver's
        // by its name, and its initialisers ask for nothing.
        if let Ok(library) = unsafe { Library::new(name) } {
            loaded = Some((name, library));
            break;
        }
    }
    let no_driver = |looked_for: String| Box::new(EnvironmentError::NoDriver { looked_for });
    let Some((name, library)) = loaded else {
        return Err(no_driver(NAMES[NAMES.len() - 1].to_owned()));
    };
    // cudarc will hold the same library; it must not be unloaded in between.
    let library: &'static Library = Box::leak(Box::new(library));
    match initialize(library, name)? {
        0 | NO_DEVICE => {}
        STUB_LIBRARY => {
            return Err(no_driver(format!(
                "{name} is the CUDA toolkit's stub, not the driver: a real one"
            )));
        }
        code => {
            return Err(Box::new(EnvironmentError::DriverFailed {
                reason: format!("cuInit returns {code} ({})", init_failure(code)),
                help: init_help(code),
            }));
        }
    }
    let found = DriverFound { library: name.to_owned(), cuda_version: cuda_version(library) };
    Ok(Driver { library, found, devices: count_devices(library, name) })
}

/// Calls `cuInit` and gives its code as a number: a Rust `enum` as cudarc's
/// would not hold the codes of a newer driver.
fn initialize(library: &'static Library, name: &str) -> Result<c_int, Reason> {
    type Init = unsafe extern "C" fn(c_uint) -> c_int;
    // SAFETY: the type is that of `cuInit` in the driver API.
    let init = unsafe { library.get::<Init>(b"cuInit\0") };
    let init = init.map_err(|_| too_old(name, "cuInit"))?;
    // SAFETY: 0 is the one value of its flags.
    Ok(unsafe { init(0) })
}

fn cuda_version(library: &'static Library) -> (u32, u32) {
    type Version = unsafe extern "C" fn(*mut c_int) -> c_int;
    // SAFETY: the type is that of `cuDriverGetVersion` in the driver API.
    let Ok(get) = (unsafe { library.get::<Version>(b"cuDriverGetVersion\0") }) else {
        return (0, 0);
    };
    let mut version = 0;
    // SAFETY: the pointer is to a live integer that the call fills.
    let code = unsafe { get(&mut version) };
    let version = if code == 0 { u32::try_from(version).unwrap_or(0) } else { 0 };
    (version / 1000, version % 1000 / 10)
}

fn count_devices(library: &'static Library, name: &str) -> Result<usize, Reason> {
    type Count = unsafe extern "C" fn(*mut c_int) -> c_int;
    // SAFETY: the type is that of `cuDeviceGetCount` in the driver API.
    let Ok(get) = (unsafe { library.get::<Count>(b"cuDeviceGetCount\0") }) else {
        // A driver that has no devices to offer need not say how many.
        return Err(Box::new(EnvironmentError::NoDevices));
    };
    let mut count = 0;
    // SAFETY: the pointer is to a live integer that the call fills. The driver
    // may be uninitialised, of which the call's code tells.
    let code = unsafe { get(&mut count) };
    let count = if code == 0 { usize::try_from(count).unwrap_or(0) } else { 0 };
    if count == 0 {
        return Err(Box::new(EnvironmentError::NoDevices));
    }
    check_symbols(library, name, &REQUIRED)?;
    Ok(count)
}

fn too_old(name: &str, symbol: &'static str) -> Reason {
    Box::new(EnvironmentError::DriverTooOld { path: name.to_owned(), symbol })
}

/// What the codes of `cuInit` mean, of those that are met.
fn init_failure(code: c_int) -> &'static str {
    match code {
        3 => "not initialised",
        46 => "the device is unavailable",
        SYSTEM_NOT_READY => "the system is not ready",
        SYSTEM_DRIVER_MISMATCH => "library and kernel module are of different versions",
        804 => "forward compatibility is not supported on this device",
        999 => "unknown error",
        _ => "see CUresult in the CUDA driver API",
    }
}

fn init_help(code: c_int) -> &'static str {
    match code {
        SYSTEM_DRIVER_MISMATCH => "reboot, or reinstall the driver: it was updated while in use",
        SYSTEM_NOT_READY => "see whether the NVIDIA Fabric Manager runs",
        _ => "see whether `nvidia-smi` works; without a GPU, use `Device::cpu()`",
    }
}
