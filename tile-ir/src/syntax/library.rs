//! What stands beside the kernels of one invocation, as written: functions and
//! constants.

use super::{Expr, Name, TypeExpr, TypeParam};

/// `fn gelu<T: Float>(x: T) -> T { … }`: a function from values to a value.
///
/// It has `let`s and a result, no statements: no memory is reached from it and
/// no other work-item.
#[derive(Clone, Debug, PartialEq)]
pub struct FunctionItem {
    /// Its name.
    pub name: Name,
    /// `<T: Float, …>`.
    pub type_params: Vec<TypeParam>,
    /// The parameters, in order.
    pub params: Vec<FunctionParam>,
    /// The type of the result.
    pub result: TypeExpr,
    /// The `let`s before the result, in order.
    pub lets: Vec<ValueLet>,
    /// The result.
    pub value: Expr,
}

/// `x: T` of a function.
#[derive(Clone, Debug, PartialEq)]
pub struct FunctionParam {
    /// Its name.
    pub name: Name,
    /// Its type.
    pub ty: TypeExpr,
}

/// `let y: T = e;` in a function, or in an arm of an `if` used for its value.
#[derive(Clone, Debug, PartialEq)]
pub struct ValueLet {
    /// The name.
    pub name: Name,
    /// The written type, if any.
    pub ty: Option<TypeExpr>,
    /// The value.
    pub value: Expr,
}

/// `const EPS: f32 = 1e-5;`
#[derive(Clone, Debug, PartialEq)]
pub struct ConstItem {
    /// Its name.
    pub name: Name,
    /// Its type.
    pub ty: TypeExpr,
    /// Its value.
    pub value: Expr,
}

/// The functions and constants that a kernel may name.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Library {
    /// The functions, in order of the text.
    pub functions: Vec<FunctionItem>,
    /// The constants, in order of the text.
    pub consts: Vec<ConstItem>,
}
