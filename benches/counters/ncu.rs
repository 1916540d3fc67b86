//! Nsight Compute, asked for the counters of one launch.

use std::path::Path;
use std::process::Command;

use crate::Error;
use crate::list::Row;
use crate::predicted::Quantities;

const BLOCKS: &str = "launch__grid_size";
const ADDS: &str = "smsp__sass_thread_inst_executed_op_fadd_pred_on.sum";
const PRODUCTS: &str = "smsp__sass_thread_inst_executed_op_fmul_pred_on.sum";
const FUSED: &str = "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum";
/// Asynchronous copies among them.
const LOADS: &str = "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum";
const STORES: &str = "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum";
const SHARED_LOADS: &str = "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum";
const SHARED_STORES: &str = "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum";
const DRAM: &str = "dram__bytes.sum";
const THREADS: &str = "launch__block_size";
/// Blocks of an SM that each resource allows.
const LIMITS: [&str; 4] = [
    "launch__occupancy_limit_blocks",
    "launch__occupancy_limit_registers",
    "launch__occupancy_limit_shared_mem",
    "launch__occupancy_limit_warps",
];

const METRICS: [&str; 10] =
    [BLOCKS, ADDS, PRODUCTS, FUSED, LOADS, STORES, SHARED_LOADS, SHARED_STORES, DRAM, THREADS];

/// Launches the entry of a row once under `ncu`.
pub(crate) fn count(ncu: &Path, row: &Row) -> Result<Quantities, Error> {
    let output = Command::new(ncu)
        .args(["--csv", "--page", "raw", "--print-units", "base", "--clock-control", "none"])
        .args(["--kernel-name", row.kernel.name()])
        .args(["--metrics", &[&METRICS[..], &LIMITS].concat().join(",")])
        .arg(std::env::current_exe()?)
        .args(["--launch", row.name()])
        .output()
        .map_err(|error| format!("{}: {error}", ncu.display()))?;
    let text = String::from_utf8_lossy(&output.stdout);
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        return Err(format!("ncu ends with {}: {text}{said}", output.status).into());
    }
    read(&text)
}

/// Reads the last launch of what `ncu` prints: lines of its own, then a table with a row
/// of names, one of units and one of each launch.
fn read(text: &str) -> Result<Quantities, Error> {
    let start = text.find("\"ID\"").ok_or_else(|| format!("ncu prints no table: {text}"))?;
    let mut table = csv::Reader::from_reader(&text.as_bytes()[start..]);
    let names = table.headers()?.clone();
    let last = table.records().last().ok_or("ncu prints an empty table")??;
    let value = |wanted: &str| -> Result<f64, Error> {
        let column = names.iter().position(|name| name == wanted);
        let text = column.and_then(|column| last.get(column)).unwrap_or_default();
        let number = text.replace(',', "").parse();
        number.map_err(|_| format!("ncu says of {wanted} `{text}`").into())
    };
    let limits: Result<Vec<f64>, Error> = LIMITS.into_iter().map(value).collect();
    let blocks = limits?.into_iter().fold(f64::INFINITY, f64::min);
    Ok(Quantities {
        blocks: value(BLOCKS)?,
        flops: value(ADDS)? + value(PRODUCTS)? + 2.0 * value(FUSED)?,
        load_sectors: value(LOADS)?,
        store_sectors: value(STORES)?,
        load_wavefronts: value(SHARED_LOADS)?,
        store_wavefronts: value(SHARED_STORES)?,
        dram_bytes: value(DRAM)?,
        warps: blocks * (value(THREADS)? / 32.0).ceil(),
    })
}
