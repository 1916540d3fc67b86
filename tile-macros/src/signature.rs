//! The kernel's signature in the host's types.

use proc_macro2::{Ident, Literal, Span, TokenStream};
use quote::{quote, quote_spanned};
use tile_ir::dtype::DType;
use tile_ir::syntax::{KernelItem, Param, ParamKind, TensorSpace, TypeExpr, TypeExprKind};
use tile_syntax::ParsedKernel;

/// One parameter of `launch`.
#[derive(Debug)]
pub(crate) struct Argument {
    /// The user's name; `None` where the parameter has a mistake.
    pub(crate) name: Option<Ident>,
    /// Its type; any type where it has a mistake.
    pub(crate) ty: TokenStream,
    /// The `Argument` of the launch, made of the parameter.
    pub(crate) pass: TokenStream,
}

/// What the host sees of a kernel.
#[derive(Debug)]
pub(crate) struct Signature {
    /// `T: ::tile_runtime::Number, …` of all type parameters.
    pub(crate) generics: TokenStream,
    /// The type parameters' names.
    pub(crate) types: Vec<Ident>,
    /// The same as `generics`, of those that a parameter of the kernel names.
    pub(crate) used_generics: TokenStream,
    /// The parameters, in order.
    pub(crate) arguments: Vec<Argument>,
}

impl Signature {
    /// The signature of `kernel`, as far as it was understood.
    pub(crate) fn new(kernel: &ParsedKernel) -> Self {
        let item = &kernel.item;
        let arguments = kernel.params.iter().map(|place| {
            let param = place.and_then(|index| item.params.get(index));
            param.and_then(|param| argument(param, kernel)).unwrap_or_else(|| Argument {
                name: None,
                ty: quote!(impl ::core::marker::Sized),
                pass: TokenStream::new(),
            })
        });
        let mut types: Vec<Ident> = Vec::new();
        let (mut generics, mut used_generics) = (TokenStream::new(), TokenStream::new());
        for param in &item.type_params {
            let name = kernel.ident(&param.name);
            if types.contains(&name) {
                continue;
            }
            let place = Span::call_site().located_at(name.span());
            let bound = Ident::new(param.bound.name(), place);
            let bound = quote_spanned!(place=> ::tile_runtime::#bound);
            let declaration = quote!(#name: #bound,);
            generics.extend(declaration.clone());
            if item.params.iter().any(|p| names_type(p, &param.name.text)) {
                used_generics.extend(declaration);
            }
            types.push(name);
        }
        Self { generics, types, used_generics, arguments: arguments.collect() }
    }

    /// Whether every parameter has a type.
    pub(crate) fn is_complete(&self) -> bool {
        self.arguments.iter().all(|argument| argument.name.is_some())
    }
}

fn argument(param: &Param, kernel: &ParsedKernel) -> Option<Argument> {
    let name = kernel.ident(&param.name);
    let path = quote!(::tile_runtime::macro_support::Argument);
    // Where the compiler says that an argument has another type.
    let place = Span::call_site().located_at(name.span());
    let (ty, pass) = match &param.kind {
        ParamKind::Tensor { space, mutable, elem, extents } => {
            let elem = host_type(elem, kernel, place)?;
            let rank = Literal::usize_unsuffixed(extents.len());
            let space_type = Ident::new(space.type_name(), place);
            let tensor = quote_spanned!(place=> ::tile_runtime::#space_type<#elem, #rank>);
            let reference = match mutable {
                true => quote_spanned!(place=> &mut #tensor),
                false => quote_spanned!(place=> & #tensor),
            };
            let pass = match (space, mutable) {
                (TensorSpace::Constant, _) => quote!(#path::constant(#name)),
                (TensorSpace::Global, true) => quote!(#path::output(#name)),
                (TensorSpace::Global, false) => quote!(#path::input(#name)),
            };
            (reference, pass)
        }
        ParamKind::Scalar { ty } => (host_type(ty, kernel, place)?, quote!(#path::scalar(#name))),
    };
    Some(Argument { name: Some(name), ty, pass })
}

/// The host's type for a scalar type of the kernel; `None` where there is none.
fn host_type(ty: &TypeExpr, kernel: &ParsedKernel, place: Span) -> Option<TokenStream> {
    let (name, accumulates) = match &ty.kind {
        TypeExprKind::Name(name) => (name, false),
        TypeExprKind::Acc(name) => (name, true),
    };
    if is_type_param(&kernel.item, &name.text) {
        let mut ident = kernel.ident(name);
        ident.set_span(place);
        return (!accumulates).then(|| quote!(#ident));
    }
    let dtype = DType::from_name(&name.text)?;
    let dtype = if accumulates { dtype.accumulator() } else { dtype };
    let ident = Ident::new(dtype.name(), place);
    Some(match dtype {
        DType::F16 | DType::BF16 => quote_spanned!(place=> ::tile_runtime::#ident),
        DType::Bool
        | DType::F32
        | DType::F64
        | DType::I8
        | DType::U8
        | DType::I16
        | DType::U16
        | DType::I32
        | DType::U32
        | DType::I64
        | DType::U64 => quote_spanned!(place=> ::core::primitive::#ident),
    })
}

fn is_type_param(item: &KernelItem, name: &str) -> bool {
    item.type_params.iter().any(|param| param.name.text == name)
}

fn names_type(param: &Param, name: &str) -> bool {
    let ty = match &param.kind {
        ParamKind::Tensor { elem, .. } => elem,
        ParamKind::Scalar { ty } => ty,
    };
    matches!(&ty.kind, TypeExprKind::Name(written) if written.text == name)
}
