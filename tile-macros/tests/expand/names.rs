#[allow(non_camel_case_types, dead_code)]
#[derive(::core::clone::Clone, ::core::marker::Copy, ::core::fmt::Debug)]
struct scale {}
const _: () = {
    #[allow(
        dead_code,
        deprecated,
        non_camel_case_types,
        non_snake_case,
        clippy::too_many_arguments
    )]
    impl scale {
        /// Queues the kernel on the device of its tensors, with every
        /// choice left to the runtime.
        ///
        /// # Errors
        ///
        /// Where the arguments do not fit together or the device fails.
        pub fn launch<
            Configured: ::tile_runtime::Element,
            Options: ::tile_runtime::Number,
        >(
            scale: Options,
            launch: &::tile_runtime::Tensor<Configured, 1>,
            options: ::core::primitive::bool,
            KERNEL: ::tile_runtime::f16,
            r#type: &mut ::tile_runtime::Tensor<::tile_runtime::bf16, 2>,
            embedded: ::core::primitive::u32,
        ) -> ::tile_runtime::Result<()> {
            Self::with(::tile_runtime::Options::default())
                .launch(scale, launch, options, KERNEL, r#type, embedded)
        }
        /// The kernel with choices of your own: stream, tile sizes,
        /// configuration.
        pub fn with(options: ::tile_runtime::Options) -> scale_with_options {
            scale_with_options(options)
        }
        /// The kernel as a value to look into: its CUDA text, its form.
        pub fn kernel<
            Configured: ::tile_runtime::Element,
            Options: ::tile_runtime::Number,
        >() -> ::tile_runtime::Kernel {
            ::tile_runtime::macro_support::kernel(
                Self::with(::tile_runtime::Options::default()).embedded(),
                &[
                    <Configured as ::tile_runtime::Element>::DTYPE,
                    <Options as ::tile_runtime::Element>::DTYPE,
                ],
            )
        }
    }
    /// A kernel with its options.
    #[allow(non_camel_case_types)]
    #[derive(::core::clone::Clone, ::core::fmt::Debug)]
    pub struct scale_with_options(::tile_runtime::Options);
    #[allow(
        dead_code,
        deprecated,
        non_camel_case_types,
        non_snake_case,
        clippy::too_many_arguments
    )]
    impl scale_with_options {
        /// Queues the kernel with these options.
        ///
        /// # Errors
        ///
        /// Where the arguments do not fit together, the options cannot be
        /// used, or the device fails.
        pub fn launch<
            Configured: ::tile_runtime::Element,
            Options: ::tile_runtime::Number,
        >(
            &self,
            scale: Options,
            launch: &::tile_runtime::Tensor<Configured, 1>,
            options: ::core::primitive::bool,
            KERNEL: ::tile_runtime::f16,
            r#type: &mut ::tile_runtime::Tensor<::tile_runtime::bf16, 2>,
            embedded: ::core::primitive::u32,
        ) -> ::tile_runtime::Result<()> {
            ::tile_runtime::macro_support::launch(
                self.embedded(),
                &self.0,
                &[
                    <Configured as ::tile_runtime::Element>::DTYPE,
                    <Options as ::tile_runtime::Element>::DTYPE,
                ],
                &mut [
                    ::tile_runtime::macro_support::Argument::scalar(scale),
                    ::tile_runtime::macro_support::Argument::input(launch),
                    ::tile_runtime::macro_support::Argument::scalar(options),
                    ::tile_runtime::macro_support::Argument::scalar(KERNEL),
                    ::tile_runtime::macro_support::Argument::output(r#type),
                    ::tile_runtime::macro_support::Argument::scalar(embedded),
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
#[allow(non_camel_case_types, dead_code)]
#[derive(::core::clone::Clone, ::core::marker::Copy, ::core::fmt::Debug)]
struct Configured {}
const _: () = {
    #[allow(
        dead_code,
        deprecated,
        non_camel_case_types,
        non_snake_case,
        clippy::too_many_arguments
    )]
    impl Configured {
        /// Queues the kernel on the device of its tensors, with every
        /// choice left to the runtime.
        ///
        /// # Errors
        ///
        /// Where the arguments do not fit together or the device fails.
        pub fn launch(
            a: &mut ::tile_runtime::Tensor<::core::primitive::f32, 1>,
        ) -> ::tile_runtime::Result<()> {
            Self::with(::tile_runtime::Options::default()).launch(a)
        }
        /// The kernel with choices of your own: stream, tile sizes,
        /// configuration.
        pub fn with(options: ::tile_runtime::Options) -> Configured_with_options {
            Configured_with_options(options)
        }
        /// The kernel as a value to look into: its CUDA text, its form.
        pub fn kernel() -> ::tile_runtime::Kernel {
            ::tile_runtime::macro_support::kernel(
                Self::with(::tile_runtime::Options::default()).embedded(),
                &[],
            )
        }
    }
    /// A kernel with its options.
    #[allow(non_camel_case_types)]
    #[derive(::core::clone::Clone, ::core::fmt::Debug)]
    pub struct Configured_with_options(::tile_runtime::Options);
    #[allow(
        dead_code,
        deprecated,
        non_camel_case_types,
        non_snake_case,
        clippy::too_many_arguments
    )]
    impl Configured_with_options {
        /// Queues the kernel with these options.
        ///
        /// # Errors
        ///
        /// Where the arguments do not fit together, the options cannot be
        /// used, or the device fails.
        pub fn launch(
            &self,
            a: &mut ::tile_runtime::Tensor<::core::primitive::f32, 1>,
        ) -> ::tile_runtime::Result<()> {
            ::tile_runtime::macro_support::launch(
                self.embedded(),
                &self.0,
                &[],
                &mut [::tile_runtime::macro_support::Argument::output(a)],
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
