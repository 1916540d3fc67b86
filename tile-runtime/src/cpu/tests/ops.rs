//! Every operator on every type, on pairs of telling values, against models
//! that compute otherwise: integers in 128 bits, floats of up to 32 bits in
//! `f64` with one rounding at the end (which is then exact).

use half::{bf16, f16};
use tile_ir::dtype::DType;
use tile_ir::op::{BinaryOp, CompareOp, MathFn, UnaryOp};
use tile_ir::program::{ExprId, Ty};
use tile_ir::semantics::{CastTo, Scalar};

use super::builder::{Builder, INDEX, at, buffer, execute, index, of, scalar};
use crate::cpu::CpuError;

/// A value for models.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Model {
    Int(i128),
    Float(f64),
    Bool(bool),
}

/// A type with its conversion to and from models.
trait Modelled: Scalar {
    fn values() -> Vec<Self>;
    fn model(self) -> Model;
    /// Wraps, saturates or rounds, as casts do.
    fn of_model(model: Model) -> Option<Self>;
}

macro_rules! modelled_integers {
    ($($ty:ty)+) => {$(
        impl Modelled for $ty {
            fn values() -> Vec<Self> {
                let small = [0i8, 1, 2, 3, 7, 8, 31, 33, 63, 100, -1, -2, -7, -100];
                let mut values: Vec<$ty> = small.iter().map(|&value| value as $ty).collect();
                values.extend([<$ty>::MIN, <$ty>::MIN + 1, <$ty>::MAX, <$ty>::MAX - 1, <$ty>::MAX / 2]);
                values
            }
            fn model(self) -> Model { Model::Int(self.into()) }
            fn of_model(model: Model) -> Option<Self> {
                Some(match model {
                    Model::Int(value) => value as $ty,
                    Model::Float(value) if value.is_nan() => 0,
                    Model::Float(value) => {
                        let (low, high) = (i128::from(<$ty>::MIN), i128::from(<$ty>::MAX));
                        (value.trunc().clamp(-1e30, 1e30) as i128).clamp(low, high) as $ty
                    }
                    Model::Bool(value) => value.into(),
                })
            }
        }
    )+};
}

modelled_integers! { i8 u8 i16 u16 i32 u32 i64 u64 }

macro_rules! modelled_floats {
    ($($ty:ident: $min_positive:expr, $max:expr, $to:expr;)+) => {$(
        impl Modelled for $ty {
            fn values() -> Vec<Self> {
                let plain = [
                    0.0, 1.0, 1.5, 2.5, 3.0, 0.1, 7.0, 100.0, 127.9, 254.5, 300.0, 65504.0, 1e-3, 1e30,
                    $min_positive, $min_positive / 2.0, $max, f64::INFINITY,
                ];
                let both = plain.iter().flat_map(|&value| [value, -value]);
                both.chain([f64::NAN]).map(|value| CastTo::<$ty>::cast(value)).collect()
            }
            fn model(self) -> Model { Model::Float($to(self)) }
            fn of_model(model: Model) -> Option<Self> {
                match model {
                    Model::Int(value) => Some(CastTo::<$ty>::cast(value as f64)),
                    Model::Float(value) => Some(CastTo::<$ty>::cast(value)),
                    Model::Bool(_) => None,
                }
            }
        }
    )+};
}

modelled_floats! {
    f16: 6.103515625e-5, 65504.0, f16::to_f64;
    bf16: 1.1754943508222875e-38, 3.3895313892515355e38, bf16::to_f64;
    f32: f64::from(f32::MIN_POSITIVE), f64::from(f32::MAX), f64::from;
    f64: f64::MIN_POSITIVE, f64::MAX, f64::from;
}

impl Modelled for bool {
    fn values() -> Vec<Self> {
        vec![false, true]
    }
    fn model(self) -> Model {
        Model::Bool(self)
    }
    fn of_model(model: Model) -> Option<Self> {
        match model {
            Model::Bool(value) => Some(value),
            Model::Int(_) | Model::Float(_) => None,
        }
    }
}

/// Calls a generic function for every scalar type.
macro_rules! for_each_type {
    ($f:ident) => {
        $f::<bool>();
        $f::<f16>();
        $f::<bf16>();
        $f::<f32>();
        $f::<f64>();
        for_each_integer!($f);
    };
}

macro_rules! for_each_integer {
    ($f:ident) => {
        $f::<i8>();
        $f::<u8>();
        $f::<i16>();
        $f::<u16>();
        $f::<i32>();
        $f::<u32>();
        $f::<i64>();
        $f::<u64>();
    };
}

/// Runs `out[i] = f(a[i], b[i])` for lanes, and the same for launch arguments,
/// which are computed once for all lanes; both must agree.
fn evaluate<T: Scalar, U: Scalar + Default>(
    pairs: &[(T, T)],
    f: impl Fn(&mut Builder, ExprId, ExprId) -> ExprId,
) -> Result<Vec<U>, CpuError> {
    let mut by_lanes = Builder::new(1);
    let (_, n) = by_lanes.arg("n", INDEX);
    let arrays = [("a", T::DTYPE, false), ("b", T::DTYPE, false), ("out", U::DTYPE, true)]
        .map(|(name, dtype, written)| by_lanes.buffer(name, dtype, &[n], written));
    let len = pairs.len() as u32;
    by_lanes.kernel.threads = len;
    let domain = by_lanes.domain(&[len]);
    let i = by_lanes.coord(domain, 0);
    let a = by_lanes.load(at(buffer(arrays[0]), &[i]));
    let b = by_lanes.load(at(buffer(arrays[1]), &[i]));
    let value = f(&mut by_lanes, a, b);
    let store = by_lanes.store(at(buffer(arrays[2]), &[i]), value);
    by_lanes.kernel.body = vec![by_lanes.items(domain, vec![store])];
    let (mut a, mut b): (Vec<T>, Vec<T>) = pairs.iter().copied().unzip();
    let mut lanes = vec![U::default(); pairs.len()];
    let buffers = [of(&mut a), of(&mut b), of(&mut lanes)];
    execute(&by_lanes, &buffers, &[index(len.into())])?;

    let mut once = Builder::new(1);
    let (_, a) = once.arg("a", Ty::Scalar(T::DTYPE));
    let (_, b) = once.arg("b", Ty::Scalar(T::DTYPE));
    let one = once.int(1);
    let zero = once.int(0);
    let out = once.buffer("out", U::DTYPE, &[one], true);
    let single = once.domain(&[]);
    let value = f(&mut once, a, b);
    let store = once.store(at(buffer(out), &[zero]), value);
    once.kernel.body = vec![once.items(single, vec![store])];
    for (&(a, b), lane) in pairs.iter().zip(&lanes) {
        let mut result = [U::default()];
        execute(&once, &[of(&mut result)], &[scalar(a), scalar(b)])?;
        assert!(same(result[0], *lane), "a lane and a uniform value differ");
    }
    Ok(lanes)
}

fn pairs<T: Modelled>() -> Vec<(T, T)> {
    let values = T::values();
    values.iter().flat_map(|&a| values.iter().map(move |&b| (a, b))).collect()
}

/// Whether two values are the same bits, or both NaN.
fn same<T: Scalar>(a: T, b: T) -> bool {
    a.to_bits() == b.to_bits() || (a.partial_cmp(&a).is_none() && b.partial_cmp(&b).is_none())
}

fn describe<T: Modelled>(value: T) -> String {
    format!("{:?} {}", value.model(), T::DTYPE)
}

/// The exact result of an operator, before it wraps or rounds.
fn binary_model(op: BinaryOp, a: Model, b: Model, bits: u32) -> Option<Model> {
    let total = |a: f64, b: f64| a.total_cmp(&b).is_lt();
    Some(match (a, b) {
        (Model::Int(a), Model::Int(b)) => Model::Int(match op {
            BinaryOp::Add => a + b,
            BinaryOp::Sub => a - b,
            BinaryOp::Mul => a.wrapping_mul(b),
            BinaryOp::Div => a.checked_div(b).unwrap_or(0),
            BinaryOp::Rem => a.checked_rem(b).unwrap_or(0),
            BinaryOp::And => a & b,
            BinaryOp::Or => a | b,
            BinaryOp::Xor => a ^ b,
            BinaryOp::Shl => a << b.rem_euclid(bits.into()),
            BinaryOp::Shr => a >> b.rem_euclid(bits.into()),
            BinaryOp::Min => a.min(b),
            BinaryOp::Max => a.max(b),
            BinaryOp::Pow | BinaryOp::Atan2 | BinaryOp::Hypot | BinaryOp::Copysign => return None,
        }),
        (Model::Float(a), Model::Float(b)) => Model::Float(match op {
            BinaryOp::Add => a + b,
            BinaryOp::Sub => a - b,
            BinaryOp::Mul => a * b,
            BinaryOp::Div => a / b,
            BinaryOp::Rem => a % b,
            BinaryOp::Min | BinaryOp::Max if a.is_nan() => b,
            BinaryOp::Min | BinaryOp::Max if b.is_nan() => a,
            BinaryOp::Min => {
                if total(a, b) {
                    a
                } else {
                    b
                }
            }
            BinaryOp::Max => {
                if total(a, b) {
                    b
                } else {
                    a
                }
            }
            BinaryOp::Copysign => a.copysign(b),
            BinaryOp::And
            | BinaryOp::Or
            | BinaryOp::Xor
            | BinaryOp::Shl
            | BinaryOp::Shr
            | BinaryOp::Pow
            | BinaryOp::Atan2
            | BinaryOp::Hypot => return None,
        }),
        (Model::Bool(a), Model::Bool(b)) => Model::Bool(match op {
            BinaryOp::And => a && b,
            BinaryOp::Or => a || b,
            BinaryOp::Xor => a != b,
            BinaryOp::Add
            | BinaryOp::Sub
            | BinaryOp::Mul
            | BinaryOp::Div
            | BinaryOp::Rem
            | BinaryOp::Shl
            | BinaryOp::Shr
            | BinaryOp::Min
            | BinaryOp::Max
            | BinaryOp::Pow
            | BinaryOp::Atan2
            | BinaryOp::Hypot
            | BinaryOp::Copysign => return None,
        }),
        (Model::Int(_) | Model::Float(_) | Model::Bool(_), _) => return None,
    })
}

#[test]
fn binary_operators() {
    fn check<T: Modelled + Default>() {
        let ops = [
            BinaryOp::Add,
            BinaryOp::Sub,
            BinaryOp::Mul,
            BinaryOp::Div,
            BinaryOp::Rem,
            BinaryOp::And,
            BinaryOp::Or,
            BinaryOp::Xor,
            BinaryOp::Shl,
            BinaryOp::Shr,
            BinaryOp::Min,
            BinaryOp::Max,
            BinaryOp::Copysign,
        ];
        let bits = T::DTYPE.size_bytes() * 8;
        for op in ops {
            let pairs = pairs::<T>();
            let result = evaluate::<T, T>(&pairs, |b, lhs, rhs| b.binary(op, lhs, rhs));
            if binary_model(op, pairs[0].0.model(), pairs[0].1.model(), bits).is_none() {
                let undefined = matches!(result, Err(CpuError::UndefinedOp { .. }));
                assert!(undefined, "`{op}` on {}", T::DTYPE);
                continue;
            }
            for (&(a, b), value) in pairs.iter().zip(result.unwrap()) {
                let model = binary_model(op, a.model(), b.model(), bits);
                let expect = model.and_then(T::of_model).unwrap();
                let (a, b) = (describe(a), describe(b));
                let (got, expected) = (describe(value), describe(expect));
                assert!(same(value, expect), "{a} {op} {b} gave {got}, not {expected}");
            }
        }
    }
    for_each_type!(check);
}

#[test]
fn comparisons() {
    fn check<T: Modelled + Default>() {
        let pairs = pairs::<T>();
        let ops = [
            (CompareOp::Eq, [false, true, false, false]),
            (CompareOp::Ne, [true, false, true, true]),
            (CompareOp::Lt, [true, false, false, false]),
            (CompareOp::Le, [true, true, false, false]),
            (CompareOp::Gt, [false, false, true, false]),
            (CompareOp::Ge, [false, true, true, false]),
        ];
        for (op, [less, equal, greater, unordered]) in ops {
            let values = evaluate::<T, bool>(&pairs, |b, lhs, rhs| b.compare(op, lhs, rhs));
            for (&(a, b), value) in pairs.iter().zip(values.unwrap()) {
                let ordering = match (a.model(), b.model()) {
                    (Model::Int(a), Model::Int(b)) => Some(a.cmp(&b)),
                    (Model::Float(a), Model::Float(b)) => a.partial_cmp(&b),
                    (a, b) => Some((a == Model::Bool(true)).cmp(&(b == Model::Bool(true)))),
                };
                let expect = match ordering {
                    Some(std::cmp::Ordering::Less) => less,
                    Some(std::cmp::Ordering::Equal) => equal,
                    Some(std::cmp::Ordering::Greater) => greater,
                    None => unordered,
                };
                assert_eq!(value, expect, "{} {} {}", describe(a), op.symbol(), describe(b));
            }
        }
    }
    for_each_type!(check);
}

fn check_unary<T: Modelled + Default>(
    name: &str,
    f: impl Fn(&mut Builder, ExprId) -> ExprId,
    model: impl Fn(Model) -> Option<Model>,
) {
    let values = T::values();
    let pairs: Vec<(T, T)> = values.iter().map(|&value| (value, value)).collect();
    let result = evaluate::<T, T>(&pairs, |b, operand, _| f(b, operand));
    if model(values[0].model()).is_none() {
        let undefined = matches!(result, Err(CpuError::UndefinedOp { .. }));
        assert!(undefined, "`{name}` on {}", T::DTYPE);
        return;
    }
    for (&operand, value) in values.iter().zip(result.unwrap()) {
        let expect = model(operand.model()).and_then(T::of_model).unwrap();
        let (got, expected) = (describe(value), describe(expect));
        assert!(same(value, expect), "{name} {} gave {got}, not {expected}", describe(operand));
    }
}

#[test]
fn prefix_operators() {
    fn check<T: Modelled + Default>() {
        check_unary::<T>(
            "-",
            |b, operand| b.unary(UnaryOp::Neg, operand),
            |model| match model {
                Model::Int(value) => Some(Model::Int(-value)),
                Model::Float(value) => Some(Model::Float(-value)),
                Model::Bool(_) => None,
            },
        );
        check_unary::<T>(
            "!",
            |b, operand| b.unary(UnaryOp::Not, operand),
            |model| match model {
                Model::Int(value) => Some(Model::Int(!value)),
                Model::Float(_) => None,
                Model::Bool(value) => Some(Model::Bool(!value)),
            },
        );
    }
    for_each_type!(check);
}

#[test]
fn exact_functions() {
    fn check<T: Modelled + Default>() {
        check_unary::<T>(
            "abs",
            |b, arg| b.math(MathFn::Abs, arg),
            |model| match model {
                Model::Int(value) => Some(Model::Int(value.abs())),
                Model::Float(value) => Some(Model::Float(value.abs())),
                Model::Bool(_) => None,
            },
        );
        for (func, f) in [
            (MathFn::Sqrt, f64::sqrt as fn(f64) -> f64),
            (MathFn::Floor, f64::floor),
            (MathFn::Ceil, f64::ceil),
            (MathFn::Round, f64::round),
            (MathFn::RoundTiesEven, f64::round_ties_even),
            (MathFn::Trunc, f64::trunc),
            (MathFn::Fract, f64::fract),
        ] {
            check_unary::<T>(
                func.name(),
                |b, arg| b.math(func, arg),
                |model| match model {
                    Model::Float(value) => Some(Model::Float(f(value))),
                    Model::Int(_) | Model::Bool(_) => None,
                },
            );
        }
        check_unary::<T>(
            "rsqrt",
            |b, arg| b.math(MathFn::Rsqrt, arg),
            |model| match model {
                Model::Float(value) if T::DTYPE == DType::F64 => {
                    Some(Model::Float(1.0 / value.sqrt()))
                }
                // Root and quotient are each rounded to `f32`.
                Model::Float(value) => Some(Model::Float((1.0 / (value as f32).sqrt()).into())),
                Model::Int(_) | Model::Bool(_) => None,
            },
        );
    }
    for_each_type!(check);
}

/// The error function at the values below, as tables have it.
fn erf(x: f64) -> f64 {
    let size: f64 = match x.abs() {
        0.25 => 0.276_326_390_168_236_9,
        0.5 => 0.520_499_877_813_046_5,
        1.0 => 0.842_700_792_949_714_9,
        2.0 => 0.995_322_265_018_952_7,
        3.0 => 0.999_977_909_503_001_4,
        5.0 => 0.999_999_999_998_462_6,
        other => unreachable!("{other} is in no table"),
    };
    size.copysign(x)
}

#[test]
fn library_functions() {
    fn check<T: Modelled + Default>() {
        let ulp = match T::DTYPE {
            DType::F16 => 1.0 / 1024.0,
            DType::BF16 => 1.0 / 128.0,
            DType::F32 => f64::from(f32::EPSILON),
            _ => f64::EPSILON,
        };
        let values: Vec<(T, T)> = [-3.0, -1.0, -0.25, 0.25, 0.5, 1.0, 2.0, 5.0]
            .iter()
            .filter_map(|&value| T::of_model(Model::Float(value)))
            .map(|value| (value, value))
            .collect();
        for (func, f) in [
            (MathFn::Exp, f64::exp as fn(f64) -> f64),
            (MathFn::Log, f64::ln),
            (MathFn::Sin, f64::sin),
            (MathFn::Cos, f64::cos),
            (MathFn::Tanh, f64::tanh),
            (MathFn::Exp2, f64::exp2),
            (MathFn::ExpM1, f64::exp_m1),
            (MathFn::Log2, f64::log2),
            (MathFn::Log10, f64::log10),
            (MathFn::Ln1p, f64::ln_1p),
            (MathFn::Tan, f64::tan),
            (MathFn::Asin, f64::asin),
            (MathFn::Acos, f64::acos),
            (MathFn::Atan, f64::atan),
            (MathFn::Sinh, f64::sinh),
            (MathFn::Cosh, f64::cosh),
            (MathFn::Cbrt, f64::cbrt),
            (MathFn::Erf, erf),
        ] {
            let result = evaluate::<T, T>(&values, |b, arg, _| b.math(func, arg)).unwrap();
            for (&(arg, _), value) in values.iter().zip(result) {
                let (Model::Float(arg), Model::Float(value)) = (arg.model(), value.model()) else {
                    unreachable!("floats only")
                };
                let expect = f(arg);
                let close = value == expect || (value - expect).abs() <= 2.0 * ulp * expect.abs();
                let name = func.name();
                assert!(close || (value.is_nan() && expect.is_nan()), "{name}({arg}) gave {value}");
            }
        }
    }
    check::<f16>();
    check::<bf16>();
    check::<f32>();
    check::<f64>();
}

#[test]
fn fused_multiply_add_rounds_once() {
    fn check<T: Modelled + Default>(exact: impl Fn(T, T, T) -> T) {
        let pairs = pairs::<T>();
        let result = evaluate::<T, T>(&pairs, |b, lhs, rhs| {
            let negated = b.unary(UnaryOp::Neg, rhs);
            b.fma(lhs, rhs, negated)
        });
        for (&(a, b), value) in pairs.iter().zip(result.unwrap()) {
            let Model::Float(negated) = b.model() else { unreachable!("floats only") };
            let expect = exact(a, b, T::of_model(Model::Float(-negated)).unwrap());
            assert!(
                same(value, expect),
                "{} * {} - it gave {}",
                describe(a),
                describe(b),
                describe(value)
            );
        }
    }
    check::<f32>(f32::mul_add);
    check::<f64>(f64::mul_add);
    let eps = f32::EPSILON;
    let (a, b) = (1.0 + eps, 1.0 - eps);
    let result = evaluate::<f32, f32>(&[(a, b)], |builder, a, b| {
        let one = builder.f32(-1.0);
        builder.fma(a, b, one)
    });
    assert_eq!(result.unwrap(), [-eps * eps]);
    let short = evaluate::<f16, f16>(&[(f16::ONE, f16::ONE)], |b, x, y| b.fma(x, y, x));
    assert!(matches!(short, Err(CpuError::UndefinedOp { .. })));
}

#[test]
fn casts() {
    fn check<S: Modelled, T: Modelled + Default>() {
        let values = S::values();
        let pairs: Vec<(S, S)> = values.iter().map(|&value| (value, value)).collect();
        let result =
            evaluate::<S, T>(&pairs, |b, operand, _| b.cast(operand, Ty::Scalar(T::DTYPE)));
        if T::of_model(values[0].model()).is_none() {
            let undefined = matches!(result, Err(CpuError::UndefinedCast { .. }));
            assert!(undefined, "{} as {}", S::DTYPE, T::DTYPE);
            return;
        }
        for (&operand, value) in values.iter().zip(result.unwrap()) {
            let expect = match (operand.model(), T::DTYPE) {
                // A model of its own, since `f64` does not hold all of them.
                (Model::Int(value), DType::F32) => T::from_bits((value as f32).to_bits().into()),
                (model, _) => T::of_model(model).unwrap(),
            };
            let (got, expected) = (describe(value), describe(expect));
            assert!(same(value, expect), "{} gave {got}, not {expected}", describe(operand));
        }
    }
    fn check_from<S: Modelled>() {
        check::<S, bool>();
        check::<S, f16>();
        check::<S, bf16>();
        check::<S, f32>();
        check::<S, f64>();
        check::<S, i8>();
        check::<S, u8>();
        check::<S, i16>();
        check::<S, u16>();
        check::<S, i32>();
        check::<S, u32>();
        check::<S, i64>();
        check::<S, u64>();
    }
    for_each_type!(check_from);
}

#[test]
fn index_casts_go_by_i64() {
    let values: Vec<(f32, f32)> =
        [f32::NAN, -2.7, 1e10, 3e38].iter().map(|&value| (value, value)).collect();
    let result = evaluate::<f32, i64>(&values, |b, value, _| {
        let index = b.cast(value, Ty::INDEX64);
        let two = b.expr(
            tile_ir::program::ExprKind::Literal(tile_ir::program::Literal::Int(2)),
            Ty::INDEX64,
        );
        let half = b.binary(BinaryOp::Div, index, two);
        b.cast(half, Ty::Scalar(DType::I64))
    });
    assert_eq!(result.unwrap(), [0, -1, 5_000_000_000, i64::MAX / 2]);
}

#[test]
fn select_chooses() {
    fn check<T: Modelled + Default>() {
        let pairs = pairs::<T>();
        let values = evaluate::<T, T>(&pairs, |b, lhs, rhs| {
            let cond = b.compare(CompareOp::Ne, lhs, rhs);
            b.select(cond, lhs, rhs)
        });
        for (&(a, b), value) in pairs.iter().zip(values.unwrap()) {
            assert!(same(value, if a != b { a } else { b }));
        }
    }
    for_each_type!(check);
}
