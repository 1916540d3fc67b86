//! What a launch costs, and why, for a device that need not be there.

use tile_ir::config::Config;
use tile_ir::device::DeviceProperties;
use tile_ir::explain::count::Limits;
use tile_ir::explain::report::Report;
use tile_ir::explain::{ExplainError, Question, Rule, explain};

#[cfg(feature = "cuda")]
use crate::cuda::nvrtc;
use crate::error::{Error, Result};
use crate::kernel::Kernel;
use crate::launch::{ArgumentError, choose, lower_error};
use crate::options::Options;

impl Kernel {
    /// What a launch of these dimensions costs on such a device, and why: roofline, reuse,
    /// occupancy, coalescing, bank conflicts, divergence, and what the numbers say should
    /// be changed. Computed from the program and the device's properties; nothing runs.
    ///
    /// In the configuration that a launch gets where nothing was measured
    /// ([`Kernel::config_for`]). Tensors are taken to be row-major without gaps, and
    /// registers are estimated. Scalar arguments are what [`Kernel::scalar`] says; of
    /// others nothing is known, as of data.
    ///
    /// # Errors
    ///
    /// Where `dims` has not one value per dimension, no admissible tile sizes fit the
    /// device, or a scalar was given that the kernel does not have.
    ///
    /// # Examples
    ///
    /// ```
    /// use tile_runtime::{ir::device::known, tiled_kernel};
    ///
    /// tiled_kernel! {
    ///     fn add<T: Number>(a: &Tensor<T, [N]>, b: &Tensor<T, [N]>, c: &mut Tensor<T, [N]>)
    ///     where tile: (TN), grid: (bx in tiles(N, TN)), block: (tx in TN),
    ///     {
    ///         c[bx * TN + tx] = a[bx * TN + tx] + b[bx * TN + tx];
    ///     }
    /// }
    ///
    /// let h200 = known("H200").unwrap();
    /// let report = add::kernel::<f32>().explain(&h200, &[1 << 28])?;
    /// println!("{report}");
    /// assert!(report.roofline.is_memory_bound());
    /// # Ok::<(), tile_runtime::Error>(())
    /// ```
    pub fn explain(&self, device: &DeviceProperties, dims: &[usize]) -> Result<Report> {
        self.explain_with(&Options::new(), device, dims, None)
    }

    /// [`Kernel::explain`] with tile sizes or a configuration of your own; with
    /// `registers` of a thread, where a compiler has said so
    /// ([`crate::nvrtc`]).
    ///
    /// # Errors
    ///
    /// As [`Kernel::explain`], and where what the options say cannot be used.
    pub fn explain_with(
        &self,
        options: &Options,
        device: &DeviceProperties,
        dims: &[usize],
        registers: Option<u32>,
    ) -> Result<Report> {
        let config = self.config_with(options, device, dims)?;
        let dims = self.check_dims(dims)?;
        let question = Question {
            kernel: self.checked(),
            types: self.types(),
            dims: dims.values(),
            scalars: &self.known_scalars()?,
            device,
            config: &config,
            registers,
            limits: Limits::default(),
            rules: &Rule::ALL,
        };
        let mut report = explain(&question).map_err(|error| self.explain_error(&config, &error))?;
        report.file = Some(self.file().to_owned());
        Ok(report)
    }

    /// The registers of a thread that NVRTC takes for what such a launch runs: what
    /// [`Kernel::explain_with`] else estimates.
    ///
    /// # Errors
    ///
    /// As [`Kernel::explain_with`], and where NVRTC is not there.
    #[cfg(feature = "cuda")]
    pub fn compiled_registers(
        &self,
        options: &Options,
        device: &DeviceProperties,
        dims: &[usize],
    ) -> Result<u32> {
        let config = self.config_with(options, device, dims)?;
        let source = self.cuda_source_for(&config, device, dims)?;
        // What NVRTC has from its cache it says nothing of.
        let extra = vec!["--no-cache".to_owned()];
        let compile = nvrtc::CompileOptions { fast: false, extra };
        let compiled = nvrtc::compile(&source, &device.architecture(), &compile)?;
        let found = compiled.report.kernels.iter().map(|kernel| kernel.registers).max();
        found.ok_or_else(|| Error::internal("the compiler says nothing of registers", &source))
    }

    /// As [`Kernel::config_for`], with what the options give.
    ///
    /// # Errors
    ///
    /// Where what the options say cannot be used, or nothing fits the device.
    pub fn config_with(
        &self,
        options: &Options,
        device: &DeviceProperties,
        dims: &[usize],
    ) -> Result<Config> {
        let dims = self.check_dims(dims)?;
        choose(self.checked(), self.types(), device, dims.values(), options)
    }

    fn explain_error(&self, config: &Config, error: &ExplainError) -> Error {
        match error {
            ExplainError::Lower(error) => lower_error(self.checked().kernel(), config, error),
            ExplainError::Count(error) => {
                ArgumentError::Unexplained { reason: error.to_string() }.into()
            }
            ExplainError::Several { .. } => {
                ArgumentError::Unexplained { reason: error.to_string() }.into()
            }
        }
    }
}
