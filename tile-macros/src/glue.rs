//! The items that a kernel expands to.
//!
//! Names that the author chose stand beside names of this file, so nothing here
//! is reached by a name that a parameter or a type parameter could shadow: paths
//! are absolute or start with `Self`, and the data is a function's static (a
//! parameter cannot have the name of a static in scope). For the same reason the
//! kernel's type has braces: a unit struct's name could not be a parameter's,
//! as in `fn scale(scale: f32)`.

use proc_macro2::{Ident, Literal, Span, TokenStream};
use quote::quote;
use tile_syntax::ParsedKernel;

use crate::attribute::Attributes;
use crate::signature::Signature;

/// What is put into the program of a kernel.
pub(crate) struct Data {
    /// Its encoding.
    pub(crate) bytes: Vec<u8>,
    /// The function of `EmbeddedKernel` that takes it.
    pub(crate) constructor: TokenStream,
}

/// A kernel that has passed all checks, or whose author bypasses them.
pub(crate) fn write_kernel(
    kernel: &ParsedKernel,
    signature: &Signature,
    attributes: &Attributes,
    Data { bytes, constructor }: &Data,
) -> TokenStream {
    let names: Vec<&Ident> = signature.arguments.iter().flat_map(|a| &a.name).collect();
    let passes = signature.arguments.iter().map(|argument| &argument.pass);
    let types = &signature.types;
    let dtypes = quote!(&[#(<#types as ::tile_runtime::Element>::DTYPE),*]);
    let data = Literal::byte_string(bytes);
    let bodies = Bodies {
        patterns: names.iter().map(|name| quote!(#name)).collect(),
        launch: quote!(Self::with(::tile_runtime::Options::default()).launch(#(#names),*)),
        kernel: quote! {
            ::tile_runtime::macro_support::kernel(Self::with(::tile_runtime::Options::default()).embedded(), #dtypes)
        },
        launch_with: quote! {
            ::tile_runtime::macro_support::launch(
                self.embedded(),
                &self.0,
                #dtypes,
                &mut [#(#passes),*],
            )
        },
        embedded: quote! {
            fn embedded(&self) -> &'static ::tile_runtime::macro_support::EmbeddedKernel {
                static KERNEL: ::tile_runtime::macro_support::EmbeddedKernel =
                    ::tile_runtime::macro_support::EmbeddedKernel::#constructor(#data, ::core::file!());
                &KERNEL
            }
        },
    };
    write_items(kernel, signature, &signature.generics, attributes, &bodies)
}

/// The same items for a kernel with mistakes: they type-check and do nothing.
pub(crate) fn write_stub(
    kernel: &ParsedKernel,
    signature: &Signature,
    attributes: &Attributes,
) -> TokenStream {
    let failed = quote!(::tile_runtime::macro_support::failed_to_compile());
    let bodies = Bodies {
        patterns: signature.arguments.iter().map(|_| quote!(_)).collect(),
        launch: failed.clone(),
        kernel: failed.clone(),
        launch_with: failed,
        embedded: TokenStream::new(),
    };
    write_items(kernel, signature, &signature.used_generics, attributes, &bodies)
}

/// What differs between a kernel and the stub of one.
struct Bodies {
    patterns: Vec<TokenStream>,
    launch: TokenStream,
    kernel: TokenStream,
    launch_with: TokenStream,
    embedded: TokenStream,
}

fn write_items(
    kernel: &ParsedKernel,
    signature: &Signature,
    launch_generics: &TokenStream,
    attributes: &Attributes,
    bodies: &Bodies,
) -> TokenStream {
    let name = kernel.ident(&kernel.item.name);
    // Where the compiler says that `launch` is defined.
    let launch_name = Ident::new("launch", Span::call_site().located_at(name.span()));
    let configured = Ident::new(&format!("{}_with_options", kernel.item.name.text), name.span());
    let visibility = &kernel.visibility;
    let docs = kernel.item.docs.iter().map(|line| format!(" {line}"));
    let generics = &signature.generics;
    let Attributes { kept, gates, .. } = attributes;
    let Bodies { patterns, launch, kernel: handle, launch_with, embedded } = bodies;
    let params = patterns.iter().zip(&signature.arguments).map(|(pattern, argument)| {
        let ty = &argument.ty;
        quote!(#pattern: #ty)
    });
    let params = quote!(#(#params),*);
    let lints = allowed_lints();
    let with_options = write_with_options(
        &configured,
        &quote!(fn #launch_name<#launch_generics>(&self, #params)),
        launch_with,
        embedded,
    );
    quote! {
        #(#[doc = #docs])*
        #kept
        #[allow(non_camel_case_types, dead_code)]
        #[derive(::core::clone::Clone, ::core::marker::Copy, ::core::fmt::Debug)]
        #visibility struct #name {}

        #gates
        const _: () = {
            #lints
            impl #name {
                /// Queues the kernel on the device of its tensors, with every
                /// choice left to the runtime.
                ///
                /// # Errors
                ///
                /// Where the arguments do not fit together or the device fails.
                pub fn #launch_name<#launch_generics>(#params) -> ::tile_runtime::Result<()> {
                    #launch
                }

                /// The kernel with choices of your own: stream, tile sizes,
                /// configuration.
                pub fn with(options: ::tile_runtime::Options) -> #configured {
                    #configured(options)
                }

                /// The kernel as a value to look into: its CUDA text, its form.
                pub fn kernel<#generics>() -> ::tile_runtime::Kernel {
                    #handle
                }
            }

            #with_options
        };
    }
}

/// The kernel with its options: a type of its own, whose `launch` does the work.
fn write_with_options(
    name: &Ident,
    launch: &TokenStream,
    body: &TokenStream,
    embedded: &TokenStream,
) -> TokenStream {
    let lints = allowed_lints();
    quote! {
        /// A kernel with its options.
        #[allow(non_camel_case_types)]
        #[derive(::core::clone::Clone, ::core::fmt::Debug)]
        pub struct #name(::tile_runtime::Options);

        #lints
        impl #name {
            /// Queues the kernel with these options.
            ///
            /// # Errors
            ///
            /// Where the arguments do not fit together, the options cannot be
            /// used, or the device fails.
            pub #launch -> ::tile_runtime::Result<()> {
                #body
            }

            #embedded
        }
    }
}

/// What the author's names and the number of parameters may give rise to, and
/// functions that a program need not call.
fn allowed_lints() -> TokenStream {
    quote! {
        #[allow(
            dead_code,
            deprecated,
            non_camel_case_types,
            non_snake_case,
            clippy::too_many_arguments
        )]
    }
}
