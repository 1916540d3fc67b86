//! A piece of work: a kernel at a shape, what it costs at least, and what it is
//! compared with.

use std::cell::Cell;
use std::rc::Rc;

use tile_runtime::bench::Blas;
use tile_runtime::{Device, DeviceProperties, Kernel, Options, Result, Stream};

/// Where work is done.
pub(crate) struct Bench {
    pub(crate) device: Device,
    /// What is timed runs on this stream.
    pub(crate) stream: Stream,
    /// Nothing where it is not there.
    pub(crate) blas: Option<Rc<Blas>>,
    /// Whether what is verified next may differ in bits from what was before.
    pub(crate) may_round_otherwise: Cell<bool>,
}

/// What a kernel is compared with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Peer {
    /// cuBLAS, on the same product or the one that is part of the work.
    Blas,
    /// The driver's copy, which reads and writes as many bytes.
    Copy,
    /// No library has it.
    Nothing,
}

/// What any implementation has to do at least.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cost {
    /// Operations that rates count: two for a multiply-add.
    pub(crate) flops: f64,
    /// Bytes that are read and written, each once.
    pub(crate) bytes: f64,
    /// Arithmetic instructions, one per element of a vector of lanes: one for a
    /// multiply-add, an addition, a minimum.
    pub(crate) instructions: f64,
    /// How `flops`, `bytes` and `instructions` follow from the shape, as far as
    /// they bound the time.
    pub(crate) formula: &'static str,
}

/// The least time that a cost can take.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bound {
    pub(crate) ms: f64,
    /// `memory` or `arithmetic`.
    pub(crate) by: &'static str,
}

impl Cost {
    /// The device's roofline: all bytes at the memory's peak rate, or all
    /// arithmetic instructions at the rate of `f32` multiply-adds (128 per clock
    /// and SM from compute capability 8.6 on: as many as the four schedulers of
    /// an SM issue), whichever takes longer.
    ///
    /// # Source
    ///
    /// CUDA C++ Programming Guide 13.0, "Arithmetic Instructions". Minima are
    /// computed at half that rate beside the additions; one each per step then
    /// takes as long as two instructions take to issue.
    pub(crate) fn bound(&self, device: &DeviceProperties) -> Bound {
        let memory = self.bytes / device.memory_bytes_per_s;
        let arithmetic = self.instructions / (device.peak_f32_flops() / 2.0);
        if arithmetic > memory {
            Bound { ms: arithmetic * 1e3, by: "arithmetic" }
        } else {
            Bound { ms: memory * 1e3, by: "memory" }
        }
    }
}

/// A kernel at a shape.
pub(crate) struct Case {
    pub(crate) op: &'static str,
    pub(crate) dtype: &'static str,
    /// As people write it.
    pub(crate) shape: Vec<usize>,
    /// The kernel's dimensions by name.
    pub(crate) named_dims: Vec<(&'static str, usize)>,
    pub(crate) kernel: Kernel,
    pub(crate) cost: Cost,
    pub(crate) peer: Peer,
    pub(crate) open: Box<Open>,
}

/// Makes the tensors of a case.
pub(crate) type Open = dyn Fn(&Bench) -> Result<Box<dyn Work>>;

impl Case {
    /// The dimensions in the kernel's order.
    pub(crate) fn dims(&self) -> Vec<usize> {
        let value = |name: &str| {
            let dim = self.named_dims.iter().find(|(known, _)| *known == name);
            dim.unwrap_or_else(|| panic!("`{}` has a dimension {name}", self.op)).1
        };
        self.kernel.dims().into_iter().map(value).collect()
    }
}

/// Why a configuration is out, in words.
#[derive(Debug, PartialEq)]
pub(crate) struct Failure(pub(crate) String);

impl From<tile_runtime::Error> for Failure {
    fn from(error: tile_runtime::Error) -> Self {
        Self(error.to_string())
    }
}

/// The tensors of a case, and what is run on them.
pub(crate) trait Work {
    /// Launches the kernel.
    fn launch(&self, options: Options) -> Result<()>;

    /// Gives the output values that no correct launch leaves.
    fn reset(&self, bench: &Bench) -> Result<(), Failure>;

    /// Compares what one launch after [`Work::reset`] has stored: the first time
    /// with a reference on the host, then with what was found right before, bit by
    /// bit; with the reference again where [`Bench::may_round_otherwise`]. Gives the
    /// greatest deviation from the reference, or what is wrong.
    fn verify(&self, bench: &Bench) -> Result<f64, Failure>;

    /// Launches the peer, if it is there, on tensors of its own.
    fn launch_peer(&self, bench: &Bench) -> Result<()>;
}
