//! The CUDA device: everything that touches cudarc or NVRTC.
//!
//! cudarc panics where the driver's library or a function of it is missing.
//! [`driver`] therefore looks first, and nothing here is reached before it has
//! said that all is there.
//!
//! cudarc's own arrays are not used: they order their uses across streams by
//! events of their own, at each launch. [`memory`] keeps who has used an array
//! and makes a stream wait only where streams meet.

mod bare;
mod bench;
#[cfg(feature = "peers")]
mod blas;
mod context;
mod driver;
mod fault;
mod memory;
mod module;
mod nvml;
pub mod nvrtc;
mod parameters;
mod properties;
mod queue;
mod timing;
mod toolkit;

pub(crate) use bare::BareLaunch;
pub(crate) use bench::Bench;
#[cfg(feature = "peers")]
pub(crate) use blas::Blas;
pub(crate) use context::CudaDevice;
pub(crate) use driver::{device_count, driver_found, driver_major};
pub(crate) use memory::CudaBuffer;
pub(crate) use module::{LoadedProgram, Occupied, add_compile_options};
pub(crate) use parameters::{Parameter, ParameterBlock};
pub(crate) use queue::CudaQueue;
pub(crate) use timing::{Round, Stopwatch};
use toolkit::VARIABLES as TOOLKIT_VARIABLES;
pub(crate) use toolkit::find as find_toolkit;
