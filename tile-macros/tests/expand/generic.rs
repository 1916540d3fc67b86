/// Adds.
///
/// Twice.
#[allow(unused, reason = "shown")]
#[cfg(unix)]
#[allow(non_camel_case_types, dead_code)]
#[derive(::core::clone::Clone, ::core::marker::Copy, ::core::fmt::Debug)]
pub(crate) struct add {}
#[cfg(unix)]
const _: () = {
    #[allow(
        dead_code,
        deprecated,
        non_camel_case_types,
        non_snake_case,
        clippy::too_many_arguments
    )]
    impl add {
        /// Queues the kernel on the device of its tensors, with every
        /// choice left to the runtime.
        ///
        /// # Errors
        ///
        /// Where the arguments do not fit together or the device fails.
        pub fn launch<T: ::tile_runtime::Number>(
            a: &::tile_runtime::Tensor<T, 1>,
            c: &mut ::tile_runtime::Tensor<T, 1>,
            alpha: T,
        ) -> ::tile_runtime::Result<()> {
            Self::with(::tile_runtime::Options::default()).launch(a, c, alpha)
        }
        /// The kernel with choices of your own: stream, tile sizes,
        /// configuration.
        pub fn with(options: ::tile_runtime::Options) -> add_with_options {
            add_with_options(options)
        }
        /// The kernel as a value to look into: its CUDA text, its form.
        pub fn kernel<T: ::tile_runtime::Number>() -> ::tile_runtime::Kernel {
            ::tile_runtime::macro_support::kernel(
                Self::with(::tile_runtime::Options::default()).embedded(),
                &[<T as ::tile_runtime::Element>::DTYPE],
            )
        }
    }
    /// A kernel with its options.
    #[allow(non_camel_case_types)]
    #[derive(::core::clone::Clone, ::core::fmt::Debug)]
    pub struct add_with_options(::tile_runtime::Options);
    #[allow(
        dead_code,
        deprecated,
        non_camel_case_types,
        non_snake_case,
        clippy::too_many_arguments
    )]
    impl add_with_options {
        /// Queues the kernel with these options.
        ///
        /// # Errors
        ///
        /// Where the arguments do not fit together, the options cannot be
        /// used, or the device fails.
        pub fn launch<T: ::tile_runtime::Number>(
            &self,
            a: &::tile_runtime::Tensor<T, 1>,
            c: &mut ::tile_runtime::Tensor<T, 1>,
            alpha: T,
        ) -> ::tile_runtime::Result<()> {
            ::tile_runtime::macro_support::launch(
                self.embedded(),
                &self.0,
                &[<T as ::tile_runtime::Element>::DTYPE],
                &mut [
                    ::tile_runtime::macro_support::Argument::input(a),
                    ::tile_runtime::macro_support::Argument::output(c),
                    ::tile_runtime::macro_support::Argument::scalar(alpha),
                ],
            )
        }
        fn embedded(&self) -> &'static ::tile_runtime::macro_support::EmbeddedKernel {
            static KERNEL: ::tile_runtime::macro_support::EmbeddedKernel = ::tile_runtime::macro_support::EmbeddedKernel::new(
                b"data",
                ::core::file!(),
            );
            &KERNEL
        }
    }
};
