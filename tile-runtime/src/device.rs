//! Devices: what kernels run on and tensors live in.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError, Weak};

use tile_ir::device::DeviceProperties;

use crate::constant::Constant;
use crate::element::Element;
use crate::error::{EnvironmentError, Error, Result};
use crate::launch::{Background, ProgramCache};
use crate::stream::Stream;
use crate::tensor::{Fill, Tensor};
use crate::tune::{Clocks, Conditions, Meter, Shelf, Tune, Worker};

#[cfg(feature = "cuda")]
use crate::cuda::CudaDevice;

mod host;
mod named;

/// A device: a GPU through CUDA, or the CPU.
///
/// A handle; clones are the same device, and so are all handles that
/// [`Device::cpu`] or [`Device::cuda`] of one number give. Two devices are equal
/// if they are the same. Tensors, constants and streams hold handles too; with the last
/// of a device's handles ends what goes on in the background ([`Tune::Background`]),
/// which is waited for.
#[derive(Clone)]
pub struct Device {
    lease: Arc<Lease>,
}

/// What the handles of a device have in common as long as there are any: with the last
/// one ends what goes on in the background.
struct Lease {
    inner: Arc<DeviceInner>,
    /// Searches for faster configurations.
    searcher: Worker,
    /// Makes programs ready that compile slowly.
    builder: Worker,
}

impl Lease {
    fn new(inner: Arc<DeviceInner>) -> Arc<Self> {
        let (searcher, builder) = (Worker::new("tile-search"), Worker::new("tile-build"));
        Arc::new(Self { inner, searcher, builder })
    }
}

/// A device that stays open for the rest of the process: what it costs to open, and
/// what was made ready on it, is not lost with a handle.
struct Opened {
    inner: Arc<DeviceInner>,
    lease: Weak<Lease>,
}

impl Opened {
    /// Of a new device.
    fn new(device: &Device) -> Self {
        Self { inner: device.lease.inner.clone(), lease: Arc::downgrade(&device.lease) }
    }

    /// A handle.
    fn device(&mut self) -> Device {
        let lease = self.lease.upgrade().unwrap_or_else(|| {
            let lease = Lease::new(self.inner.clone());
            self.lease = Arc::downgrade(&lease);
            lease
        });
        Device { lease }
    }
}

struct DeviceInner {
    /// As messages name it: `NVIDIA H200 (cuda:0)`.
    label: String,
    properties: DeviceProperties,
    backend: Backend,
    programs: ProgramCache,
    /// What launches do that say nothing themselves.
    tune: Mutex<Tune>,
    shelf: Shelf,
    /// Held while a search measures.
    tuning: Mutex<()>,
    meter: Meter,
    background: Background,
}

/// What a device is made of.
pub(crate) enum Backend {
    /// The host's processor and memory.
    Cpu,
    /// A CUDA device.
    #[cfg(feature = "cuda")]
    Cuda(CudaDevice),
}

impl Device {
    /// The first CUDA device if there is one, else the CPU.
    ///
    /// # Errors
    ///
    /// Where there is a driver that does not start, or a CUDA device that cannot
    /// be used: [`crate::diagnose()`] says more. No driver and no device is no error.
    pub fn best() -> Result<Self> {
        match Self::cuda(0) {
            Err(Error::Environment(error)) if has_no_gpu(&error) => Ok(Self::cpu()),
            outcome => outcome,
        }
    }

    /// The CPU: executes kernels on all cores, as they are lowered for a device,
    /// with the same bits. Launches return when they are done.
    pub fn cpu() -> Self {
        static CPU: Mutex<Option<Opened>> = Mutex::new(None);
        let mut cpu = CPU.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(opened) = &mut *cpu {
            return opened.device();
        }
        let device = Self::new_cpu("CPU");
        *cpu = Some(Opened::new(&device));
        device
    }

    /// The CPU with the limits of another device: the configurations that are legal
    /// and chosen there are so here, and their programs give the same bits. Not its
    /// speed: peaks decide which configuration is chosen and nothing else.
    ///
    /// Properties of known devices are had by name, as in `"cpu:H200".parse::<Device>()`.
    /// Handles for properties of one name are the same device.
    pub fn cpu_like(properties: &DeviceProperties) -> Self {
        static LIKE: Mutex<Vec<Opened>> = Mutex::new(Vec::new());
        let mut like = LIKE.lock().unwrap_or_else(PoisonError::into_inner);
        // What is remembered of a device by its name is not of the one it is like.
        let name = format!("CPU like {}", properties.name);
        let mut others = like.iter_mut();
        if let Some(opened) = others.find(|opened| opened.inner.properties.name == name) {
            return opened.device();
        }
        let properties = DeviceProperties { name: name.clone(), ..properties.clone() };
        let device = Self::new(name, properties, Backend::Cpu);
        like.push(Opened::new(&device));
        device
    }

    /// The CUDA device of this number, counted as the driver counts
    /// (`CUDA_VISIBLE_DEVICES` applies).
    ///
    /// # Errors
    ///
    /// An [`EnvironmentError`] that says what is missing: the driver, a device,
    /// a device of this number, or CUDA in this build.
    pub fn cuda(index: usize) -> Result<Self> {
        #[cfg(feature = "cuda")]
        {
            static OPENED: Mutex<Vec<(usize, Opened)>> = Mutex::new(Vec::new());
            let mut opened = OPENED.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some((_, known)) = opened.iter_mut().find(|(known, _)| *known == index) {
                return Ok(known.device());
            }
            let (cuda, properties) = CudaDevice::open(index)?;
            let device = Self::new(cuda.label().to_owned(), properties, Backend::Cuda(cuda));
            opened.push((index, Opened::new(&device)));
            Ok(device)
        }
        #[cfg(not(feature = "cuda"))]
        {
            let _ = index;
            Err(EnvironmentError::WithoutCuda.into())
        }
    }

    /// Every device that can be used: the CUDA devices in order, then the CPU.
    pub fn all() -> Vec<Self> {
        cuda_devices().into_iter().chain([Self::cpu()]).collect()
    }

    /// A CPU device that messages call `label`.
    pub(crate) fn new_cpu(label: &str) -> Self {
        Self::new(label.to_owned(), host::properties(), Backend::Cpu)
    }

    fn new(label: String, properties: DeviceProperties, backend: Backend) -> Self {
        crate::events::start();
        let programs = ProgramCache::default();
        let tune = Mutex::new(Tune::of_environment());
        let shelf = Shelf::of_user();
        let (tuning, meter) = (Mutex::new(()), Meter::default());
        // The CPU device's programs are ready at once.
        let background = Background::new(!matches!(backend, Backend::Cpu));
        let inner = DeviceInner {
            label,
            properties,
            backend,
            programs,
            tune,
            shelf,
            tuning,
            meter,
            background,
        };
        Self { lease: Lease::new(Arc::new(inner)) }
    }

    fn inner(&self) -> &DeviceInner {
        &self.lease.inner
    }

    /// A handle that keeps nothing in the background from ending.
    pub(crate) fn detached(&self) -> Self {
        Self { lease: Lease::new(self.lease.inner.clone()) }
    }

    /// The device's name, e.g. `NVIDIA H200`.
    pub fn name(&self) -> &str {
        &self.inner().properties.name
    }

    /// Whether it is the CPU.
    pub fn is_cpu(&self) -> bool {
        matches!(self.inner().backend, Backend::Cpu)
    }

    /// Limits and peaks, which decide how kernels are tiled.
    pub fn properties(&self) -> &DeviceProperties {
        &self.inner().properties
    }

    /// A tensor of `shape` with a copy of `values`, in row-major order. When it
    /// returns, `values` may be reused.
    ///
    /// # Errors
    ///
    /// [`crate::TensorError`] where `values` has another number of elements than
    /// the shape, or the device has no memory for it.
    ///
    /// # Examples
    ///
    /// ```
    /// use tile_runtime::Device;
    ///
    /// let a = Device::cpu().tensor([2, 3], &[1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0])?;
    /// assert_eq!(a.shape(), [2, 3]);
    /// assert_eq!(a.to_vec()?[3], 4.0);
    /// # Ok::<(), tile_runtime::Error>(())
    /// ```
    pub fn tensor<T: Element, const R: usize>(
        &self,
        shape: [usize; R],
        values: &[T],
    ) -> Result<Tensor<T, R>> {
        Tensor::new(self, shape, Fill::Copy(values))
    }

    /// A tensor of `shape` filled with zeros.
    ///
    /// # Errors
    ///
    /// [`crate::TensorError`] where the device has no memory for it.
    ///
    /// # Examples
    ///
    /// ```
    /// use tile_runtime::{Device, Tensor};
    ///
    /// let c: Tensor<i32, 1> = Device::cpu().zeros([3])?;
    /// assert_eq!(c.to_vec()?, [0, 0, 0]);
    /// # Ok::<(), tile_runtime::Error>(())
    /// ```
    pub fn zeros<T: Element, const R: usize>(&self, shape: [usize; R]) -> Result<Tensor<T, R>> {
        Tensor::new(self, shape, Fill::Zeros)
    }

    /// A constant of `shape` with a copy of `values`, in row-major order, for the
    /// parameters `&Constant<..>` of kernels.
    ///
    /// # Errors
    ///
    /// [`crate::TensorError`] where `values` has another number of elements than
    /// the shape, takes more than 64 KiB, or the device has no memory for it.
    ///
    /// # Examples
    ///
    /// ```
    /// use tile_runtime::Device;
    ///
    /// let filter = Device::cpu().constant([3], &[0.25f32, 0.5, 0.25])?;
    /// assert_eq!(filter.shape(), [3]);
    /// # Ok::<(), tile_runtime::Error>(())
    /// ```
    pub fn constant<T: Element, const R: usize>(
        &self,
        shape: [usize; R],
        values: &[T],
    ) -> Result<Constant<T, R>> {
        Constant::new(self, shape, values)
    }

    /// The device's own stream, on which launches go that name no other.
    pub fn stream(&self) -> Stream {
        match &self.inner().backend {
            Backend::Cpu => Stream::host(self),
            #[cfg(feature = "cuda")]
            Backend::Cuda(cuda) => Stream::cuda(self, cuda.default_stream()),
        }
    }

    /// The queue of that stream, where it has one.
    #[cfg(feature = "cuda")]
    pub(crate) fn default_queue(&self) -> Option<&crate::cuda::CudaQueue> {
        match &self.inner().backend {
            Backend::Cpu => None,
            Backend::Cuda(cuda) => Some(cuda.default_stream()),
        }
    }

    /// A new stream: its launches are in order among themselves, and in order
    /// with launches of other streams that use the same tensors.
    ///
    /// # Errors
    ///
    /// Where the driver has no stream to give.
    pub fn new_stream(&self) -> Result<Stream> {
        match &self.inner().backend {
            Backend::Cpu => Ok(Stream::host(self)),
            #[cfg(feature = "cuda")]
            Backend::Cuda(cuda) => Ok(Stream::cuda(self, &cuda.new_stream()?)),
        }
    }

    /// Says where launches on this device take the configurations from that their
    /// options leave open.
    pub fn set_tune(&self, tune: Tune) {
        *self.inner().tune.lock().unwrap_or_else(PoisonError::into_inner) = tune;
    }

    /// Adds a tuning record that the program brings along, most often by
    /// `include_str!`: one of the files that a search leaves in the folder `records`
    /// of the cache. It is used for launches that it fits; what this machine has
    /// measured itself comes before it, and of a record of another model of device a
    /// search only begins with what was best there.
    ///
    /// # Errors
    ///
    /// Where the text is not a whole tuning record of this version's format.
    pub fn add_records(&self, json: &str) -> Result<()> {
        self.inner().shelf.ship(json)?;
        self.programs().forget_choices();
        Ok(())
    }

    /// Waits for all work queued on the device.
    ///
    /// # Errors
    ///
    /// A [`crate::DeviceFault`] where a kernel has failed since the last wait.
    pub fn synchronize(&self) -> Result<()> {
        match &self.inner().backend {
            Backend::Cpu => Ok(()),
            #[cfg(feature = "cuda")]
            Backend::Cuda(cuda) => cuda.synchronize(),
        }
    }

    pub(crate) fn backend(&self) -> &Backend {
        &self.inner().backend
    }

    /// What launches do that say nothing themselves.
    pub(crate) fn tune(&self) -> Tune {
        *self.inner().tune.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What was measured on it.
    pub(crate) fn shelf(&self) -> &Shelf {
        &self.inner().shelf
    }

    /// Held while a search measures on it.
    pub(crate) fn tuning(&self) -> MutexGuard<'_, ()> {
        self.inner().tuning.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether a search measures that a launch waits for.
    pub(crate) fn is_tuning(&self) -> bool {
        matches!(self.inner().tuning.try_lock(), Err(TryLockError::WouldBlock))
    }

    /// What the speed of a program depends on, beside the device.
    pub(crate) fn conditions(&self) -> Conditions {
        match &self.inner().backend {
            Backend::Cpu => Conditions::default(),
            #[cfg(feature = "cuda")]
            Backend::Cuda(cuda) => {
                let text = |(major, minor): (u32, u32)| format!("{major}.{minor}");
                let nvrtc = crate::nvrtc::identity().map(|nvrtc| text(nvrtc.version));
                let driver = crate::cuda::driver_found().map(|driver| text(driver.cuda_version));
                Conditions {
                    driver: driver.unwrap_or_default(),
                    nvrtc: nvrtc.unwrap_or_default(),
                    peak_clocks: Some(cuda.peak_clocks()),
                }
            }
        }
    }

    /// How long launches have taken.
    pub(crate) fn meter(&self) -> &Meter {
        &self.inner().meter
    }

    /// What is known of launches that are searched for in the background.
    pub(crate) fn background(&self) -> &Background {
        &self.inner().background
    }

    /// What searches in the background.
    pub(crate) fn searcher(&self) -> &Worker {
        &self.lease.searcher
    }

    /// What makes programs ready in the background.
    pub(crate) fn builder(&self) -> &Worker {
        &self.lease.builder
    }

    /// What it runs at now; nothing where it does not tell.
    pub(crate) fn clocks(&self) -> Option<Clocks> {
        match self.backend() {
            Backend::Cpu => None,
            #[cfg(feature = "cuda")]
            Backend::Cuda(cuda) => cuda.clocks(),
        }
    }

    /// Bytes of memory that are free; nothing where the system does not tell.
    pub(crate) fn free_bytes(&self) -> Option<u64> {
        match self.backend() {
            Backend::Cpu => host::free_bytes(),
            #[cfg(feature = "cuda")]
            Backend::Cuda(cuda) => cuda.free_bytes(),
        }
    }

    pub(crate) fn programs(&self) -> &ProgramCache {
        &self.inner().programs
    }
}

/// The CUDA devices that can be used.
fn cuda_devices() -> Vec<Device> {
    #[cfg(feature = "cuda")]
    let count = crate::cuda::device_count().unwrap_or(0);
    #[cfg(not(feature = "cuda"))]
    let count = 0;
    (0..count).filter_map(|index| Device::cuda(index).ok()).collect()
}

/// Whether there is nothing that a GPU could be expected of.
fn has_no_gpu(error: &EnvironmentError) -> bool {
    matches!(
        error,
        EnvironmentError::WithoutCuda
            | EnvironmentError::NoDriver { .. }
            | EnvironmentError::NoDevices
    )
}

impl PartialEq for Device {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.lease.inner, &other.lease.inner)
    }
}

impl Eq for Device {}

impl fmt::Display for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.inner().label)
    }
}

impl fmt::Debug for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Device").field(&self.inner().label).finish()
    }
}
