//! What to write instead of functions that Rust, CUDA and libraries have and this
//! language has not.

/// What stands for the function of that name, if it is a known one.
pub(super) fn instead_of(name: &str) -> Option<String> {
    let written = match name {
        "len" | "shape" | "size" | "dim" => {
            "an extent has a name, which the parameter gives it: `a: &Tensor<f32, [N]>`"
        }
        "float" | "double" | "int" | "into" | "from" | "cast" => "a conversion is `x as f32`",
        "get" | "at" => "an element is `a[i, j]`",
        "iter" | "map" | "sum" | "fold" | "enumerate" | "zip" | "filter" | "collect"
        | "product" => "there are no iterators: `for k in 0..N { sum += a[k]; }`",
        "relu" => "write `max(x, 0)`",
        "sigmoid" => "write `1 / (1 + exp(-x))`",
        "softplus" => "write `ln_1p(exp(x))`",
        "lerp" | "mix" => "write `a + t * (b - a)`",
        "step" | "select" | "where" | "ite" => {
            "a value that a condition decides is `if c { a } else { b }`"
        }
        "to_radians" => "write `x * 0.017_453_292_519_943_295`",
        "to_degrees" => "write `x * 57.295_779_513_082_32`",
        "sin_cos" | "sincos" | "sincosf" => "write `sin(x)` and `cos(x)`",
        "exp10" => "write `exp2(x * 3.321_928_094_887_362)`, or `pow(10, x)`",
        "asinh" => "write `ln(x + sqrt(x * x + 1))`",
        "acosh" => "write `ln(x + sqrt(x * x - 1))`",
        "atanh" => "write `0.5 * ln_1p(2 * x / (1 - x))`",
        "maximum" | "fmax" | "fmaxf" => "write `max(a, b)`: of a NaN and a number it is the number",
        "minimum" | "fmin" | "fminf" => "write `min(a, b)`: of a NaN and a number it is the number",
        "total_cmp" | "partial_cmp" | "cmp" => "compare with `<`, `==` and so on",
        "is_positive" => "write `x > 0`",
        "is_negative" => "write `x < 0`",
        "midpoint" => "write `(a + b) / 2`",
        "wrapping_add" | "overflowing_add" | "checked_add" => "write `a + b`: integers wrap",
        "wrapping_sub" | "overflowing_sub" | "checked_sub" => "write `a - b`: integers wrap",
        "wrapping_mul" | "overflowing_mul" | "checked_mul" => "write `a * b`: integers wrap",
        "wrapping_neg" => "write `-x`, or `0 - x`: integers wrap",
        "wrapping_shl" | "checked_shl" => "write `x << n`: counts are taken modulo the width",
        "wrapping_shr" | "checked_shr" => "write `x >> n`: counts are taken modulo the width",
        "saturating_add" | "saturating_sub" | "saturating_mul" => {
            "compute in a wider type, and `clamp` it: `(a as i32 + b as i32).clamp(0, 255) as u8`"
        }
        "checked_div" | "wrapping_div" => "write `a / b`: `x / 0` is 0",
        "div_ceil" | "ceil_div" | "cdiv" => "write `tiles(n, t)`: n / t rounded up",
        "next_multiple_of" => "write `tiles(n, t) * t`",
        "ilog2" => "write `31 - leading_zeros(x)`, of types of 32 bits",
        "isqrt" => "write `sqrt(x as f64) as u32`",
        "swap_bytes" | "to_be" | "to_le" => "shift, mask and join: `x << 8 | x >> 8`",
        "to_bits" | "from_bits" | "transmute" | "__float_as_uint" | "__uint_as_float" => {
            "the bits of floats cannot be taken here: pass them as a tensor of integers"
        }
        "popcount" | "popcnt" | "__popc" | "__popcll" => "write `count_ones(x)`",
        "bitreverse" | "__brev" | "__brevll" => "write `reverse_bits(x)`",
        "clz" | "__clz" | "__clzll" => "write `leading_zeros(x)`",
        "ctz" | "__ffs" => "write `trailing_zeros(x)`",
        "powif" => "write `powi(x, n)`",
        "__shfl_sync" => "write `shuffle(v, l)`",
        "__shfl_down_sync" => "write `shuffle_down(v, d)`",
        "__shfl_up_sync" => "write `shuffle_up(v, d)`",
        "__shfl_xor_sync" => "write `shuffle_xor(v, m)`",
        "__ballot_sync" => "write `ballot(e)`",
        "__any_sync" => "write `warp_any(e)`",
        "__all_sync" => "write `warp_all(e)`",
        "block_reduce" | "block_sum" | "reduce" | "reduce_add" => {
            "write `reduce_sum(e)`, `reduce_min(e)` or `reduce_max(e)`"
        }
        "scan" | "cumsum" | "prefix_sum" => "write `scan_sum(e)` or `scan_sum_exclusive(e)`",
        "swap" => "name one value first: `let held = a;`, then assign both",
        "atomicAdd" | "atomic_add" | "fetch_add" => "write `atomic c[i] += e;`",
        _ => return of_c(name),
    };
    Some(written.to_owned())
}

/// Functions of C, of `f32` by their last letter: `fabsf`, `expf`, `sinf`.
fn of_c(name: &str) -> Option<String> {
    let known = |name: &str| super::call::is_built_in(name).then(|| format!("write `{name}(x)`"));
    let plain = name.strip_prefix("__").unwrap_or(name);
    if matches!(plain, "fabs" | "fabsf" | "labs") {
        return known("abs");
    }
    plain.strip_suffix('f').and_then(known)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_of_c_are_told_by_their_names() {
        assert_eq!(instead_of("fabsf").as_deref(), Some("write `abs(x)`"));
        assert_eq!(instead_of("__expf").as_deref(), Some("write `exp(x)`"));
        assert_eq!(instead_of("gelu"), None);
        assert_eq!(instead_of("half"), None);
    }
}
