//! Device functions that C++ has no operator for, kept as real `.cuh` files.

/// A part of the prelude: its text, and the names that need it.
struct Part {
    text: &'static str,
    names: &'static [&'static str],
}

/// In the order in which they are written; a later part may use an earlier one.
const PARTS: &[Part] = &[
    Part { text: include_str!("prelude/half.cuh"), names: &["tk_f16", "tk_bf16"] },
    Part { text: include_str!("prelude/divide.cuh"), names: &["tk_div(", "tk_rem("] },
    Part {
        text: include_str!("prelude/minmax.cuh"),
        names: &["tk_min(", "tk_max(", "tk_atomic_min(", "tk_atomic_max("],
    },
    Part { text: include_str!("prelude/math.cuh"), names: &["tk_fract(", "tk_signum("] },
    Part { text: include_str!("prelude/atomic.cuh"), names: &["tk_atomic_"] },
    Part {
        text: include_str!("prelude/atomic_extremum.cuh"),
        names: &["tk_atomic_min(", "tk_atomic_max("],
    },
    Part {
        text: include_str!("prelude/atomic_exchange.cuh"),
        names: &["tk_atomic_swap(", "tk_atomic_compare_exchange("],
    },
    Part { text: include_str!("prelude/convert.cuh"), names: &["tk_saturate("] },
    Part { text: include_str!("prelude/constant.cuh"), names: &["tk_constant<"] },
    Part { text: include_str!("prelude/vector.cuh"), names: &["tk_vector<"] },
    Part { text: include_str!("prelude/once.cuh"), names: &["tk_load_once(", "tk_store_once("] },
    Part { text: include_str!("prelude/copy_async.cuh"), names: &["tk_copy_async<"] },
    Part { text: include_str!("prelude/copy_async_if.cuh"), names: &["tk_copy_async_if<"] },
    Part { text: include_str!("prelude/copy_groups.cuh"), names: &["tk_commit_copies("] },
    Part { text: include_str!("prelude/shuffle.cuh"), names: &["tk_shuffle("] },
    Part { text: include_str!("prelude/index.cuh"), names: &["tk_ceil_div(", "tk_trips("] },
    Part { text: include_str!("prelude/trips.cuh"), names: &["tk_trips("] },
];

/// The parts whose names stand in `text`.
pub(super) fn used_by(text: &str) -> String {
    let used = PARTS.iter().filter(|part| part.names.iter().any(|name| text.contains(name)));
    used.map(|part| format!("{}\n", part.text.trim_end())).collect()
}
