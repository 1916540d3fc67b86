//! A kernel as a value: what it is called, what it is lowered to.

use std::fmt;

use tile_ir::check::CheckedKernel;
use tile_ir::config::{Config, default_config};
use tile_ir::device::{DeviceProperties, known};
use tile_ir::dtype::DType;
use tile_ir::emit::{CudaSource, emit_cuda};
use tile_ir::kernel::{ScalarId, VarKind, print_kernel};
use tile_ir::lower::{Binding, lower, lower_watched};
use tile_ir::program::{IndexWidth, Program, print_program};
use tile_ir::value::ScalarValue;

use crate::device::Device;
use crate::element::Element;
use crate::error::{Error, Result};
use crate::launch::{ArgumentError, Dims, binding_of, check_sizes, remembered, tune_kernel};
use crate::tune::{TuneOptions, TuneReport};

/// The device that texts are made for where none is named.
const REFERENCE_DEVICE: &str = "H100 SXM";

/// A kernel with its type parameters bound: what `matmul::kernel::<f32>()` gives.
///
/// It runs nothing; it shows what the kernel is and what it becomes, for any
/// device, present or not.
#[derive(Clone)]
pub struct Kernel {
    checked: &'static CheckedKernel,
    file: &'static str,
    types: Vec<DType>,
    /// Values of scalars, by name.
    scalars: Vec<(String, ScalarValue)>,
}

impl Kernel {
    pub(crate) fn new(
        checked: &'static CheckedKernel,
        file: &'static str,
        types: Vec<DType>,
    ) -> Self {
        Self { checked, file, types, scalars: Vec::new() }
    }

    /// The kernel's name.
    pub fn name(&self) -> &'static str {
        &self.checked.kernel().name
    }

    /// The types that its type parameters are bound to, in order.
    pub fn types(&self) -> &[DType] {
        &self.types
    }

    /// The names of its dimensions, in the order in which the methods here take
    /// their values.
    pub fn dims(&self) -> Vec<&'static str> {
        let vars = self.checked.kernel().vars.values();
        vars.filter(|var| var.kind == VarKind::Dim).map(|var| var.name.as_str()).collect()
    }

    /// The names of its tile parameters, in order.
    pub fn tiles(&self) -> Vec<&'static str> {
        self.checked.kernel().tile_params.values().map(|param| param.name.as_str()).collect()
    }

    /// The names of its scalar arguments, in order.
    pub fn scalars(&self) -> Vec<&'static str> {
        self.checked.kernel().scalars.values().map(|scalar| scalar.name.as_str()).collect()
    }

    /// Gives the scalar argument `name` a value, a number of any type that has it: for
    /// what is said of launches that do not take place ([`Kernel::explain`],
    /// [`Kernel::tune`]). A second value of one name replaces the first.
    ///
    /// # Examples
    ///
    /// ```
    /// use tile_runtime::{ir::device::known, tiled_kernel};
    ///
    /// tiled_kernel! {
    ///     /// Sums of what is at most `radius` away.
    ///     fn sums(radius: u8, x: &Tensor<u8, [N]>, y: &mut Tensor<u32, [N]>)
    ///     where tile: (TN), grid: (bx in tiles(N, TN)), block: (tx in TN),
    ///     {
    ///         let at = bx * TN + tx;
    ///         let mut sum: u32 = 0;
    ///         for i in at - radius..=at + radius {
    ///             if in_bounds(x[i]) {
    ///                 sum += x[i] as u32;
    ///             }
    ///         }
    ///         y[at] = sum;
    ///     }
    /// }
    ///
    /// let device = known("H200").unwrap();
    /// let report = sums::kernel().scalar("radius", 3).explain(&device, &[1 << 20])?;
    /// // Of seven elements each, but for those at the two ends.
    /// assert_eq!(report.work.ops, [("u32".to_owned(), (7 << 20) - 12)]);
    /// # Ok::<(), tile_runtime::Error>(())
    /// ```
    #[must_use]
    pub fn scalar(mut self, name: impl Into<String>, value: impl Element) -> Self {
        let name = name.into();
        self.scalars.retain(|(known, _)| *known != name);
        self.scalars.push((name, value.to_scalar()));
        self
    }

    /// The scalars that were given values, in the types that the kernel has them in.
    ///
    /// # Errors
    ///
    /// Where the kernel has no such scalar, or its type no such number.
    pub(crate) fn known_scalars(&self) -> Result<Vec<(ScalarId, ScalarValue)>> {
        let of = |(name, value): &(String, ScalarValue)| {
            let mut scalars = self.checked.kernel().scalars.iter();
            let Some((id, scalar)) = scalars.find(|(_, scalar)| scalar.name == *name) else {
                let (kernel, names) = (self.name().to_owned(), self.scalars().join(", "));
                return Err(ArgumentError::NoScalar { kernel, name: name.clone(), names }.into());
            };
            let dtype = scalar.elem.bind(&self.types);
            let typed = dtype.and_then(|dtype| value.in_type(dtype));
            let typed = typed.ok_or_else(|| ArgumentError::ScalarValue {
                kernel: self.name().to_owned(),
                name: name.clone(),
                dtype: dtype.map_or("number", DType::name),
                value: value.to_string(),
            })?;
            Ok((id, typed))
        };
        self.scalars.iter().map(of).collect()
    }

    /// The kernel in the language's own syntax, with every conversion written out.
    pub fn print(&self) -> String {
        print_kernel(self.checked.kernel())
    }

    /// The source file that it stands in.
    pub(crate) fn file(&self) -> &'static str {
        self.file
    }

    /// The checked kernel.
    pub fn checked(&self) -> &'static CheckedKernel {
        self.checked
    }

    /// The configuration that a launch of these dimensions on such a device gets
    /// where its options leave it open and nothing was measured
    /// ([`tile_ir::config::default_config`]).
    ///
    /// # Errors
    ///
    /// Where `dims` has not one value per dimension, or no admissible tile sizes
    /// fit the device.
    pub fn config_for(&self, device: &DeviceProperties, dims: &[usize]) -> Result<Config> {
        let dims = self.check_dims(dims)?;
        Ok(default_config(self.checked, &self.types, device, dims.values())?)
    }

    /// Searches for the fastest configuration of a launch of these dimensions, and
    /// remembers it: launches of such shapes on this device then run in it, in this
    /// process and in later ones ([`crate::Tune::Cached`]).
    ///
    /// It measures on memory and data of its own: floats between -1 and 1, integers
    /// from 0 to 15, scalars likewise unless [`Kernel::scalar`] gives them. Where the time of a kernel depends on more of its data than its
    /// extents, launch it with [`crate::Tune::Now`] instead.
    ///
    /// # Errors
    ///
    /// Where `dims` has not one value per dimension, or a scalar was given that the
    /// kernel does not have; where the kernel's results depend on the order of its work-items, so that no two can be compared; where the
    /// device has not the memory, or fails.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Duration;
    /// use tile_runtime::{Device, TuneOptions, tiled_kernel};
    ///
    /// tiled_kernel! {
    ///     fn add<T: Number>(a: &Tensor<T, [N]>, b: &Tensor<T, [N]>, c: &mut Tensor<T, [N]>)
    ///     where tile: (TN), grid: (bx in tiles(N, TN)), block: (tx in TN),
    ///     {
    ///         c[bx * TN + tx] = a[bx * TN + tx] + b[bx * TN + tx];
    ///     }
    /// }
    ///
    /// let tuning = TuneOptions::new(Duration::from_millis(50));
    /// let report = add::kernel::<f32>().tune(&Device::cpu(), &[1000], &tuning)?;
    /// println!("{report}");
    /// assert!(report.best().seconds <= report.default_seconds());
    /// # Ok::<(), tile_runtime::Error>(())
    /// ```
    pub fn tune(
        &self,
        device: &Device,
        dims: &[usize],
        tuning: &TuneOptions,
    ) -> Result<TuneReport> {
        let dims = self.check_dims(dims)?;
        tune_kernel(self, device, &dims, tuning)
    }

    /// The fastest configuration that was measured for launches of these dimensions
    /// and others of their class, by this process or an earlier one or in a record that
    /// was shipped: what they get under [`crate::Tune::Cached`]. `None` where nothing
    /// was measured.
    ///
    /// # Errors
    ///
    /// Where `dims` has not one value per dimension, or no admissible tile sizes
    /// fit the device.
    pub fn tuned(&self, device: &Device, dims: &[usize]) -> Result<Option<Config>> {
        let dims = self.check_dims(dims)?;
        remembered(self, device, &dims)
    }

    /// The program that a launch of these dimensions runs.
    ///
    /// # Errors
    ///
    /// Where `dims` has not one value per dimension, or the configuration does
    /// not fit the kernel or the device.
    pub fn program(
        &self,
        config: &Config,
        device: &DeviceProperties,
        dims: &[usize],
    ) -> Result<Program> {
        let dims = self.check_dims(dims)?;
        self.lower(&binding_of(self.checked.kernel(), &self.types, &dims, config), config, device)
    }

    /// That program as text: the launch, where each item and element lies, and
    /// the statements with their comparisons and barriers.
    ///
    /// # Errors
    ///
    /// As [`Kernel::program`].
    pub fn print_program(
        &self,
        config: &Config,
        device: &DeviceProperties,
        dims: &[usize],
    ) -> Result<String> {
        Ok(print_program(&self.program(config, device, dims)?))
    }

    /// The program after each pass of lowering, with the pass's name; the last
    /// is [`Kernel::program`].
    ///
    /// # Errors
    ///
    /// As [`Kernel::program`].
    pub fn program_by_pass(
        &self,
        config: &Config,
        device: &DeviceProperties,
        dims: &[usize],
    ) -> Result<Vec<(&'static str, Program)>> {
        let dims = self.check_dims(dims)?;
        let kernel = self.checked.kernel();
        let binding = binding_of(kernel, &self.types, &dims, config);
        let mut programs = Vec::new();
        let mut watch = |pass, program: &Program| programs.push((pass, program.clone()));
        lower_watched(self.checked, &binding, config, device, &mut watch)
            .map_err(|error| crate::launch::lower_error(kernel, config, &error))?;
        Ok(programs)
    }

    /// The CUDA C++ text for tensors of any extents of at most 2^30, made for a
    /// device of compute capability 9.0.
    ///
    /// # Errors
    ///
    /// Where the configuration does not fit the kernel or that device.
    pub fn cuda_source(&self, config: &Config) -> Result<String> {
        let Some(device) = known(REFERENCE_DEVICE) else {
            return Err(Error::internal("the reference device is not known", REFERENCE_DEVICE));
        };
        let binding = Binding {
            types: self.types.clone(),
            index_width: IndexWidth::Bits32,
            dim_divisors: vec![1; self.dims().len()],
            layouts: Vec::new(),
        };
        Ok(self.emit(&self.lower(&binding, config, &device)?)?.text)
    }

    /// The CUDA C++ text that a launch of these dimensions compiles for such a
    /// device.
    ///
    /// # Errors
    ///
    /// As [`Kernel::program`].
    pub fn cuda_source_for(
        &self,
        config: &Config,
        device: &DeviceProperties,
        dims: &[usize],
    ) -> Result<String> {
        Ok(self.emit(&self.program(config, device, dims)?)?.text)
    }

    pub(crate) fn check_dims(&self, dims: &[usize]) -> Result<Dims> {
        let names = self.dims();
        if names.len() != dims.len() {
            return Err(ArgumentError::DimCount {
                kernel: self.name().to_owned(),
                names: names.join(", "),
                expected: names.len(),
                found: dims.len(),
            }
            .into());
        }
        let dims = Dims::of_values(self.checked.kernel(), dims);
        check_sizes(self.checked.kernel(), &self.types, &dims)?;
        Ok(dims)
    }

    fn lower(
        &self,
        binding: &Binding,
        config: &Config,
        device: &DeviceProperties,
    ) -> Result<Program> {
        lower(self.checked, binding, config, device)
            .map_err(|error| crate::launch::lower_error(self.checked.kernel(), config, &error))
    }

    fn emit(&self, program: &Program) -> Result<CudaSource> {
        emit_cuda(program, Some(self.file))
            .map_err(|error| Error::internal("a program has no CUDA text", error.to_string()))
    }
}

impl fmt::Debug for Kernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Kernel {}{}", self.name(), type_list(&self.types))
    }
}

/// `<f32, i32>`, or nothing where there are no types.
pub(crate) fn type_list(types: &[DType]) -> String {
    if types.is_empty() {
        return String::new();
    }
    let names: Vec<&str> = types.iter().map(|dtype| dtype.name()).collect();
    format!("<{}>", names.join(", "))
}
