//! What can go wrong at run time, in the user's words.
//!
//! Three classes: what the caller passed ([`Error::Argument`], [`Error::Config`],
//! [`Error::Tensor`]), what the machine lacks or lost ([`Error::Environment`],
//! [`Error::Fault`]), and defects of this library ([`Error::Internal`]).

use std::path::PathBuf;

use tile_ir::config::ConfigError;

use crate::checked::CheckReport;
use crate::launch::ArgumentError;
use crate::tune::RecordError;

/// The result of an operation of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why an operation failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The arguments of a launch do not fit the kernel or one another.
    #[error(transparent)]
    Argument(#[from] Box<ArgumentError>),
    /// There is no configuration, or the given one cannot be used.
    #[error(transparent)]
    Config(#[from] Box<ConfigError>),
    /// A tensor cannot be made from, or filled with, what was given.
    #[error(transparent)]
    Tensor(#[from] TensorError),
    /// The machine lacks what the operation needs.
    #[error(transparent)]
    Environment(#[from] Box<EnvironmentError>),
    /// The data of a launch is not as the kernel's author assumes.
    #[error(transparent)]
    Assumption(#[from] Box<AssumptionError>),
    /// A checked launch has shown what no sound launch does.
    #[error(transparent)]
    Check(Box<CheckReport>),
    /// A text is not a tuning record.
    #[error(transparent)]
    Record(#[from] RecordError),
    /// A device failed while it ran kernels.
    #[error(transparent)]
    Fault(#[from] Box<DeviceFault>),
    /// A defect of this library.
    #[error(transparent)]
    Internal(#[from] Box<InternalError>),
}

/// An `assume` of a kernel that the data of a launch breaks. The CPU device looks;
/// elsewhere such a launch may race, and its results mean nothing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AssumptionError {
    /// A condition that is false for a work-item.
    #[error("`assume({text})` of `{kernel}` ({file}:{line}) does not hold for {place}{}",
        if values.is_empty() { String::new() } else { format!(": {}", values.join(", ")) })]
    Condition {
        /// The kernel.
        kernel: String,
        /// The source file.
        file: String,
        /// The line in it, from 1.
        line: u32,
        /// What is assumed, as it stands there.
        text: String,
        /// The first work-item and its block: `work-item (tx = 3) of block (bx = 0)`.
        place: String,
        /// What the condition is computed from, each as `x = 3`.
        values: Vec<String>,
    },
    /// Two work-items with one number that should differ.
    #[error("`assume({text})` of `{kernel}` ({file}:{line}) does not hold: \
             {place} has {}, of which {other} has one", values.join(", "))]
    Shared {
        /// The kernel.
        kernel: String,
        /// The source file.
        file: String,
        /// The line in it, from 1.
        line: u32,
        /// What is assumed, as it stands there.
        text: String,
        /// The work-item and its block: `work-item (tx = 3) of block (bx = 0)`.
        place: String,
        /// Its numbers, each as `place = 3`.
        values: Vec<String>,
        /// The other work-item and its block.
        other: String,
    },
    /// Two elements that should be distinct.
    #[error(
        "`assume(distinct({tensor}))` of `{kernel}` ({file}:{line}) does not hold: \
             {tensor}{first:?} and {tensor}{second:?} are both {value}"
    )]
    Distinct {
        /// The kernel.
        kernel: String,
        /// The source file.
        file: String,
        /// The line in it, from 1.
        line: u32,
        /// The tensor.
        tensor: String,
        /// Where the value stands first, one index per axis.
        first: Vec<usize>,
        /// Where it stands again.
        second: Vec<usize>,
        /// The value.
        value: String,
    },
    /// An element that is less than the one before it, where none should be.
    #[error(
        "`assume(sorted({tensor}))` of `{kernel}` ({file}:{line}) does not hold: \
             {tensor}[{at}] is {value}, and {tensor}[{}] before it is {before}", at.saturating_sub(1)
    )]
    Unsorted {
        /// The kernel.
        kernel: String,
        /// The source file.
        file: String,
        /// The line in it, from 1.
        line: u32,
        /// The tensor.
        tensor: String,
        /// The index of the first such element.
        at: usize,
        /// The element.
        value: String,
        /// The one before it.
        before: String,
    },
}

/// Why a tensor cannot be made or filled.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TensorError {
    /// The host's slice has another number of elements than the shape.
    #[error("shape {shape:?} has {expected} elements, the slice has {found}")]
    Length {
        /// The tensor's shape.
        shape: Vec<usize>,
        /// Elements of the shape.
        expected: usize,
        /// Elements of the slice.
        found: usize,
    },
    /// The shape has more elements than can be addressed.
    #[error("shape {shape:?} of {dtype} takes more than 2^63 bytes")]
    TooLarge {
        /// The shape.
        shape: Vec<usize>,
        /// The element type's name.
        dtype: &'static str,
    },
    /// A view that a tensor does not have.
    #[error("a tensor of shape {shape:?} has no view {view}: {why}")]
    View {
        /// The tensor's shape.
        shape: Vec<usize>,
        /// The view that was asked for.
        view: String,
        /// Why there is none.
        why: String,
    },
    /// An array that constant memory does not hold.
    #[error(
        "shape {shape:?} of {dtype} takes {bytes} bytes, constant memory holds {limit}\n\
             help: make it with `tensor` and pass it as `&Tensor<{dtype}, [..]>`"
    )]
    ConstantTooLarge {
        /// The shape.
        shape: Vec<usize>,
        /// The element type's name.
        dtype: &'static str,
        /// Bytes that it takes.
        bytes: usize,
        /// Bytes that constant memory holds.
        limit: usize,
    },
    /// The device has no memory left.
    #[error("{device} has no memory for {bytes} bytes{}",
        free_bytes.map(|free| format!("; {free} bytes are free")).unwrap_or_default())]
    OutOfMemory {
        /// The device.
        device: String,
        /// Bytes asked for.
        bytes: usize,
        /// Bytes that are free, where the device says.
        free_bytes: Option<usize>,
    },
}

/// What the machine lacks, and how to get it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EnvironmentError {
    /// The crate was built without its feature `cuda`.
    #[error(
        "this program was built without CUDA\n\
         help: build tile-runtime with its feature `cuda-13` (on by default), or use `Device::cpu()`"
    )]
    WithoutCuda,
    /// The driver's library is not there.
    #[error(
        "no NVIDIA driver: {looked_for} cannot be loaded\n\
         help: install the NVIDIA driver (in a container, start it with the GPU: \
         `docker run --gpus all`); without a GPU, use `Device::cpu()` or `Device::best()`"
    )]
    NoDriver {
        /// The names that were tried.
        looked_for: String,
    },
    /// The driver is older than what this program was built for.
    #[error(
        "the NVIDIA driver is too old: {path} has no `{symbol}`\n\
         help: install a newer driver, or build tile-runtime with its feature `cuda-12` \
         instead of `cuda-13`"
    )]
    DriverTooOld {
        /// The driver's library.
        path: String,
        /// The function that it lacks.
        symbol: &'static str,
    },
    /// The driver's library does not start.
    #[error("the NVIDIA driver does not start: {reason}\nhelp: {help}")]
    DriverFailed {
        /// What the driver says.
        reason: String,
        /// What to do about it.
        help: &'static str,
    },
    /// The driver sees no device.
    #[error(
        "the NVIDIA driver finds no CUDA device\n\
         help: see whether `nvidia-smi` lists one, whether CUDA_VISIBLE_DEVICES hides it, and, in a \
         container, whether it was started with the GPU; without a GPU, use `Device::cpu()`"
    )]
    NoDevices,
    /// A name that is none of a device.
    #[error(
        "`{name}` is no device: it is best, cpu, cuda or cuda:1, or cpu:H200 for the CPU like a known device"
    )]
    UnknownName {
        /// The name.
        name: String,
    },
    /// A device number beyond those present.
    #[error("there is no CUDA device {index}: there {}", if *count == 1 { "is 1, number 0".to_owned() }
        else { format!("are {count}, from 0 to {}", count.saturating_sub(1)) })]
    NoSuchDevice {
        /// The number asked for.
        index: usize,
        /// How many there are.
        count: usize,
    },
    /// NVRTC is nowhere to be found.
    #[error(
        "NVRTC, NVIDIA's run-time compiler, is not found; looked for it in\n{}\n\
         help: install the CUDA toolkit, or `pip install {wheel}`, or set {variable} to the \
         library or the folder that holds it",
        looked_in.iter().map(|place| format!("  {place}")).collect::<Vec<_>>().join("\n")
    )]
    NoNvrtc {
        /// Where it was looked for, in order.
        looked_in: Vec<String>,
        /// The wheel on PyPI that holds it.
        wheel: &'static str,
        /// The environment variable.
        variable: &'static str,
    },
    /// The environment variable names something that is not NVRTC.
    #[error("{variable} is `{}`: {reason}\nhelp: set it to libnvrtc.so or to the folder that holds it, \
         or unset it", value.display())]
    BadNvrtcVariable {
        /// The environment variable.
        variable: &'static str,
        /// Its value.
        value: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// NVRTC cannot compile for the device.
    #[error(
        "NVRTC {version} ({}) does not compile for {architecture}; it knows {known}\n\
         help: {help}", path.display()
    )]
    Architecture {
        /// NVRTC's version.
        version: String,
        /// NVRTC's library.
        path: PathBuf,
        /// The device's architecture.
        architecture: String,
        /// The architectures that it compiles for.
        known: String,
        /// What to do about it.
        help: &'static str,
    },
    /// The driver does not load what a newer NVRTC has compiled.
    #[error(
        "{device} does not load what NVRTC {nvrtc} ({}) compiles, as its driver serves CUDA up to \
         {driver}: {reason}\n\
         help: install a newer driver, or set TILE_NVRTC to the folder of an NVRTC of that version",
        path.display()
    )]
    NvrtcNewerThanDriver {
        /// The device.
        device: String,
        /// NVRTC's version.
        nvrtc: String,
        /// NVRTC's library.
        path: PathBuf,
        /// The newest CUDA version that the driver serves.
        driver: String,
        /// What the driver says.
        reason: String,
    },
    /// NVRTC is found and does not do its work.
    #[error("NVRTC ({}): {call} fails: {reason}", path.display())]
    NvrtcFailed {
        /// NVRTC's library.
        path: PathBuf,
        /// The function.
        call: &'static str,
        /// What it says.
        reason: String,
    },
    /// A call of the driver failed for no reason of the caller's.
    #[error("{device}: cannot {doing}: {reason}")]
    Driver {
        /// The device.
        device: String,
        /// What was being done.
        doing: String,
        /// What the driver says.
        reason: String,
    },
}

/// A device failed while it ran kernels. What the CUDA device held is lost, and
/// every later operation on it in this process fails too.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{device} failed: {reason}\n{}", describe_launches(launches, *n_dropped))]
pub struct DeviceFault {
    /// The device.
    pub device: String,
    /// What the device says.
    pub reason: String,
    /// The kernels, each with its configuration, that were launched since the
    /// last wait, oldest first. The fault is of one of them.
    pub launches: Vec<String>,
    /// Older launches that are no longer listed.
    pub n_dropped: usize,
}

fn describe_launches(launches: &[String], n_dropped: usize) -> String {
    match launches {
        [] => "no kernel was launched since the last wait".to_owned(),
        [one] if n_dropped == 0 => format!("while it ran {one}"),
        several => {
            let mut text = "while it ran one of".to_owned();
            if n_dropped > 0 {
                text.push_str(&format!("\n  {n_dropped} older launches"));
            }
            for launch in several {
                text.push_str(&format!("\n  {launch}"));
            }
            text
        }
    }
}

/// A defect of this library, with what is needed to report it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "internal error of tile-runtime: {what}\n{detail}\n\
     this is a defect of tile-runtime, not of your program; please report it with this text"
)]
pub struct InternalError {
    /// What happened.
    pub what: String,
    /// The evidence.
    pub detail: String,
}

/// `boxed!(Argument: ArgumentError)` makes an error of that type an [`Error`].
macro_rules! boxed {
    ($($variant:ident: $ty:ty),+) => {$(
        impl From<$ty> for Error {
            fn from(error: $ty) -> Self {
                Self::$variant(Box::new(error))
            }
        }
    )+};
}

boxed!(
    Argument: ArgumentError,
    Config: ConfigError,
    Environment: EnvironmentError,
    Assumption: AssumptionError,
    Fault: DeviceFault
);

impl Error {
    /// A defect of this library.
    pub(crate) fn internal(what: impl Into<String>, detail: impl Into<String>) -> Self {
        Self::Internal(Box::new(InternalError { what: what.into(), detail: detail.into() }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_of_one_launch_names_it() {
        let fault = DeviceFault {
            device: "NVIDIA H200 (cuda:0)".into(),
            reason: "illegal address".into(),
            launches: vec!["`add<f32>` with TN = 256".into()],
            n_dropped: 0,
        };
        assert_eq!(
            fault.to_string(),
            "NVIDIA H200 (cuda:0) failed: illegal address\nwhile it ran `add<f32>` with TN = 256"
        );
    }

    #[test]
    fn a_fault_of_many_launches_lists_them() {
        let fault = DeviceFault {
            device: "d".into(),
            reason: "r".into(),
            launches: vec!["one".into(), "two".into()],
            n_dropped: 3,
        };
        assert_eq!(
            fault.to_string(),
            "d failed: r\nwhile it ran one of\n  3 older launches\n  one\n  two"
        );
    }

    #[test]
    fn device_numbers_are_counted_in_words() {
        let one = EnvironmentError::NoSuchDevice { index: 1, count: 1 };
        assert_eq!(one.to_string(), "there is no CUDA device 1: there is 1, number 0");
        let four = EnvironmentError::NoSuchDevice { index: 7, count: 4 };
        assert_eq!(four.to_string(), "there is no CUDA device 7: there are 4, from 0 to 3");
    }
}
