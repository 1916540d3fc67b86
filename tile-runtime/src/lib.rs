//! Textbook tiled GPU kernels in Rust: devices, tensors and launches.
//!
//! A kernel is written once with [`tiled_kernel!`]; its checks run at compile
//! time. At run time it is lowered for the device that is there: through CUDA
//! C++ and NVRTC to a GPU, or to the CPU device, which executes the same
//! program and gives the same bits.
//!
//! - [`Device`] finds devices and makes [`Tensor`]s, [`Constant`]s and [`Stream`]s.
//! - [`language`] describes what a kernel may say, and what it means.
//! - The macro gives each kernel `launch`, `with(`[`Options`]`)` and
//!   `kernel`, a [`Kernel`] to look into.
//! - Everything that can go wrong is an [`Error`] that says what to do.
//!
//! # Features
//!
//! `cuda-13` (default), `cuda-12` and `cuda-from-env` choose the version of the
//! CUDA driver API that is bound, at most one of them; without any there is the
//! CPU device only. Neither driver nor toolkit is needed at build time.

#[cfg(test)]
extern crate self as tile_runtime;

mod cache;
mod checked;
mod constant;
mod cpu;
#[cfg(feature = "cuda")]
mod cuda;
mod device;
mod diagnose;
mod element;
mod error;
mod events;
mod explain;
mod kernel;
mod launch;
mod options;
mod stream;
mod tensor;
mod tune;
mod view;

#[doc = include_str!("language.md")]
pub mod language {}

#[doc(hidden)]
pub mod bench;
#[doc(hidden)]
pub mod inspect;
#[doc(hidden)]
pub mod macro_support;

pub use checked::{
    AccessCount, ArrayKind, BranchCount, CheckCounts, CheckLog, CheckPlace, CheckReport, Does,
    Finding, Note,
};
pub use constant::Constant;
pub use device::Device;
pub use diagnose::{CacheFound, Diagnosis, Missing, diagnose};
pub use element::{Element, Float, Integer, Number};
pub use error::{
    AssumptionError, DeviceFault, EnvironmentError, Error, InternalError, Result, TensorError,
};
pub use half::{bf16, f16};
pub use kernel::Kernel;
pub use launch::ArgumentError;
pub use options::Options;
pub use stream::Stream;
pub use tensor::Tensor;
pub use tile_ir::config::{Config, ConfigError, Numerics};
pub use tile_ir::device::DeviceProperties;
pub use tile_ir::explain::report::Report;
pub use tile_macros::tiled_kernel;
pub use tune::{
    Clocks, Pruned, Reason, RecordError, Stop, Strategy, Trial, Tune, TuneOptions, TuneReport,
};
pub use view::{View, ViewMut};

#[cfg(feature = "cuda")]
pub use cuda::nvrtc;

/// What kernels are lowered to, for tools that look into it.
pub use tile_ir as ir;
