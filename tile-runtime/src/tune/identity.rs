//! When two kernels are the same to the tuner: when they compute the same in the
//! same way, however they are called and wherever they stand.

use serde_json::Value;
use tile_ir::check::CheckedKernel;
use tile_ir::encode::{FORMAT_VERSION, encode};
use tile_ir::lower::LOWERING_VERSION;

use crate::cache::Key;

/// Fields of a kernel's form that say how it is written, not what it does: names,
/// documentation, places in the source, and what only messages need.
const WRITING: [&str; 6] = ["name", "docs", "span", "head", "spans", "exits"];

/// The hash of a kernel without its names, documentation and places, and of the
/// version of lowering: what was measured of one kernel is so of all with its hash.
pub(crate) fn kernel_hash(checked: &CheckedKernel) -> Key {
    let form = match serde_json::to_value(checked) {
        Ok(mut value) => {
            strip(&mut value);
            value.to_string().into_bytes()
        }
        // A literal beyond 64 bits: the kernel as it stands, names and all.
        Err(_) => encode(checked),
    };
    let versions = [FORMAT_VERSION, LOWERING_VERSION].map(u32::to_le_bytes);
    Key::of([&form[..], &versions[0], &versions[1]])
}

fn strip(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            fields.retain(|name, _| !WRITING.contains(&name.as_str()));
            fields.values_mut().for_each(strip);
        }
        Value::Array(values) => values.iter_mut().for_each(strip),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}
