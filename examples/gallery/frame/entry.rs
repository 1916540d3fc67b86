//! One entry: what it is called, in which sizes it runs, and how.

use tile_runtime::{Device, DeviceProperties, Kernel, Options, Report};

use super::Failure;
use super::random::check_room;

/// One kernel, or several that belong together, with its host code and reference.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// Its name: its file's, or, of a file with several, the kernel's.
    pub name: &'static str,
    /// One line: what it computes, and what it shows.
    pub about: &'static str,
    /// What each of its sizes is: "rows", "columns".
    pub sizes: &'static [&'static str],
    /// Sizes for tests: one element, less than a tile, no multiple of one.
    pub small: &'static [&'static [usize]],
    /// The sizes that are measured on a GPU.
    pub full: &'static [usize],
    /// Its kernels, in every combination of types that they are written for, with the
    /// values of scalars that their loops and conditions depend on.
    pub kernels: fn() -> Vec<Kernel>,
    /// Data of these sizes on a device, ready to be launched on.
    pub prepare: Prepare,
}

impl Entry {
    /// Makes data of these sizes, computes once, and compares the result.
    ///
    /// # Errors
    ///
    /// Where there is no result, or a wrong one.
    pub fn checked(&self, device: &Device, sizes: &[usize]) -> Result<Box<dyn Prepared>, Failure> {
        let mut prepared = self.prepared(device, sizes)?;
        prepared.launch(&Options::new())?;
        prepared.verify()?;
        Ok(prepared)
    }

    /// Makes data of these sizes.
    ///
    /// # Errors
    ///
    /// Where there are more sizes than the entry has, or fewer, or one is too large.
    pub fn prepared(&self, device: &Device, sizes: &[usize]) -> Result<Box<dyn Prepared>, Failure> {
        if sizes.len() != self.sizes.len() {
            let message = format!("`{}` takes {}", self.name, self.sizes.join(", "));
            return Err(Failure::Sizes(message));
        }
        // With room for the filters, halos and tables that stand beside the data.
        let product = sizes.iter().try_fold(1 << 8, |all: usize, size| all.checked_mul(*size));
        if product.is_none() {
            let message = format!("sizes {sizes:?} make more than can be addressed");
            return Err(Failure::Sizes(message));
        }
        // Whatever else is empty.
        sizes.iter().try_for_each(|size| check_room::<f32>(*size))?;
        (self.prepare)(device, sizes)
    }
}

/// Makes an entry's data, of these sizes, on a device.
pub type Prepare = fn(&Device, &[usize]) -> Result<Box<dyn Prepared>, Failure>;

/// An entry's data on a device.
pub trait Prepared {
    /// Queues all launches of the computation, with these options.
    ///
    /// # Errors
    ///
    /// Those of the launches.
    fn launch(&mut self, options: &Options) -> tile_runtime::Result<()>;

    /// Compares what the first [`launch`](Self::launch) has left with the reference.
    ///
    /// # Errors
    ///
    /// Names the first element that is wrong.
    fn verify(&self) -> Result<(), Failure>;

    /// What the computation has to do at least.
    fn cost(&self) -> Cost;

    /// What `explain` says of its kernels on a device, where that is what the entry
    /// shows.
    ///
    /// # Errors
    ///
    /// Those of [`Kernel::explain`].
    fn reports(&self, _device: &DeviceProperties) -> tile_runtime::Result<Vec<Report>> {
        Ok(Vec::new())
    }
}

/// What a computation has to do at least, on any machine.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Cost {
    /// Bytes of inputs and outputs, each once, where they do not fit into a cache.
    pub bytes: f64,
    /// `f32` operations; a multiplication that feeds an addition is two.
    pub flops: f64,
}

impl Cost {
    /// Seconds below which a device cannot do it: the roofline (Williams, Waterman and
    /// Patterson, "Roofline", CACM 2009) at the device's peak rates.
    pub fn bound(&self, device: &DeviceProperties) -> f64 {
        (self.bytes / device.memory_bytes_per_s).max(self.flops / device.peak_f32_flops())
    }

    /// Whether [`bound`](Self::bound) is the memory's.
    pub fn is_of_memory(&self, device: &DeviceProperties) -> bool {
        self.bytes / device.memory_bytes_per_s >= self.flops / device.peak_f32_flops()
    }
}
