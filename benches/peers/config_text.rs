//! A configuration as one line of text, for lists, for `--config`, and in figures:
//!
//! ```text
//! 128 256 16 : 16/8*4 16/4*4 : stages=2 async=4 raster=16 fragments=2 unroll
//! ```
//!
//! Before the first colon stand the tile sizes, in the order of the kernel's tile
//! parameters; then, for each axis of the block, threads, `/` threads of a warp
//! (1 if absent), `*` consecutive items (1 if absent); then the other choices.

use tile_runtime::Config;
use tile_runtime::ir::config::{AxisItems, Numerics, TilePadding};

/// The configuration that a text says.
pub(crate) fn parse(text: &str) -> Result<Config, String> {
    let parts: Vec<&str> = text.split(':').collect();
    let [tiles, axes, choices] = parts[..] else {
        return Err(format!("`{text}` has not three parts: TILES : AXES : CHOICES"));
    };
    let tiles = tiles.split_whitespace().map(number).collect::<Result<_, _>>()?;
    let block: Vec<AxisItems> = axes.split_whitespace().map(axis).collect::<Result<_, _>>()?;
    let mut config = Config { copy_bytes: 16, ..Config::plain(tiles, block) };
    for choice in choices.split_whitespace() {
        match choice.split_once('=') {
            Some(("threads", value)) => config.threads = number(value)?,
            Some(("copy", value)) => config.copy_bytes = number(value)?,
            Some(("stages", value)) => config.stages = number(value)?,
            Some(("async", value)) => config.async_bytes = number(value)?,
            Some(("fragments", value)) => config.fragment_buffers = number(value)?,
            Some(("unrolled", value)) => config.unrolled_stmts = number(value)?,
            Some(("align", value)) => config.align_bytes = number(value)?,
            Some(("raster", value)) => config.raster_rows = number(value)?,
            Some(("blocks", value)) => config.min_blocks = number(value)?,
            Some(("parts", value)) => config.phase_parts = number(value)?,
            Some(("slices", value)) => config.slices = number(value)?,
            Some(("padding", value)) => config.padding = TilePadding::Elems(number(value)?),
            None if choice == "unroll" => config.unroll_stages = true,
            None if choice == "predicated" => config.predicate_copies = true,
            None if choice == "reassociated" => config.numerics = Numerics::Reassociated,
            None if choice == "paired" => config.paired_lanes = true,
            None if choice == "columns" => config.by_columns = true,
            None if choice == "whole" => config.whole_vectors = true,
            None if choice == "split" => config.split_edges = true,
            None if choice == "swizzled" => config.padding = TilePadding::Swizzled,
            None if choice == "stream-loads" => config.stream_loads = true,
            None if choice == "stream-stores" => config.stream_stores = true,
            Some(_) | None => return Err(format!("`{choice}` is no choice of a configuration")),
        }
    }
    if !choices.contains("threads=") {
        config.threads = config.threads.saturating_mul(config.slices);
    }
    Ok(config)
}

/// The text that [`parse`] reads a configuration from.
pub(crate) fn print(config: &Config) -> String {
    let words = |words: Vec<String>| words.join(" ");
    let tiles = words(config.tiles.iter().map(u32::to_string).collect());
    let axes = words(config.block.iter().map(print_axis).collect());
    let of_axes = config.block.iter().map(|axis| axis.threads).product::<u32>() * config.slices;
    let mut choices = Vec::new();
    let mut say = |name: &str, value: u32, usual: u32| {
        if value != usual {
            choices.push(format!("{name}={value}"));
        }
    };
    say("threads", config.threads, of_axes);
    say("copy", config.copy_bytes, 16);
    say("stages", config.stages, 1);
    say("async", config.async_bytes, 0);
    say("fragments", config.fragment_buffers, 1);
    say("unrolled", config.unrolled_stmts, 0);
    say("align", config.align_bytes, 0);
    say("raster", config.raster_rows, 1);
    say("blocks", config.min_blocks, 0);
    say("parts", config.phase_parts, 1);
    say("slices", config.slices, 1);
    if let TilePadding::Elems(elems) = config.padding {
        choices.push(format!("padding={elems}"));
    }
    let flags = [
        ("unroll", config.unroll_stages),
        ("predicated", config.predicate_copies),
        ("paired", config.paired_lanes),
        ("columns", config.by_columns),
        ("whole", config.whole_vectors),
        ("split", config.split_edges),
        ("reassociated", config.numerics == Numerics::Reassociated),
        ("swizzled", config.padding == TilePadding::Swizzled),
        ("stream-loads", config.stream_loads),
        ("stream-stores", config.stream_stores),
    ];
    choices.extend(flags.iter().filter(|(_, set)| *set).map(|(name, _)| (*name).to_owned()));
    format!("{tiles} : {axes} : {}", words(choices))
}

fn number(text: &str) -> Result<u32, String> {
    text.parse().map_err(|_| format!("`{text}` is not a number"))
}

/// `16/8*4`, `16*4`, `16/8` or `16`.
fn axis(text: &str) -> Result<AxisItems, String> {
    let (threads, run) = text.split_once('*').unwrap_or((text, "1"));
    let (threads, lanes) = threads.split_once('/').unwrap_or((threads, "1"));
    Ok(AxisItems { threads: number(threads)?, lanes: number(lanes)?, run: number(run)? })
}

fn print_axis(axis: &AxisItems) -> String {
    let AxisItems { threads, lanes, run } = *axis;
    let lanes = if lanes == 1 { String::new() } else { format!("/{lanes}") };
    let run = if run == 1 { String::new() } else { format!("*{run}") };
    format!("{threads}{lanes}{run}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_printed_is_read_again() {
        for text in [
            "128 256 16 : 16/8*4 16/4*4 : stages=2 async=4 fragments=2 raster=16 unroll",
            "32 32 :  : threads=1024 copy=4 padding=0 split",
            "256 : 256*4 : copy=8 fragments=0",
            "64 64 :  : threads=256 swizzled stream-loads stream-stores",
            "64 64 32 : 8 8 : stages=2 async=4 blocks=2 slices=4 predicated reassociated",
        ] {
            assert_eq!(print(&parse(text).unwrap()), text);
        }
        let config = parse("64 32 8 : 8/4*4 16/8 : stages=3").unwrap();
        assert_eq!((config.threads, config.copy_bytes, config.stages), (128, 16, 3));
        assert_eq!(config.block[1], AxisItems { threads: 16, lanes: 8, run: 1 });
    }

    #[test]
    fn what_is_no_configuration_is_named() {
        assert!(parse("64 64").unwrap_err().contains("three parts"));
        assert!(parse("64 x : 8 : ").unwrap_err().contains("`x` is not a number"));
        assert!(parse("64 : 8 : spin").unwrap_err().contains("`spin`"));
        assert!(parse("64 : 8 : spin=2").unwrap_err().contains("`spin=2`"));
    }
}
