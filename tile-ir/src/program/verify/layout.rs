//! Layouts: each item of a domain is one thread's and one register's, each
//! element of a tile has a place of its own, and the tiles share out the block's
//! shared memory.

use super::{Place, Verifier};
use crate::program::{
    Digit, Domain, MAX_ACCESS_BYTES, Projection, SharedMemory, Tile, TileId, TileLayout, TileSpace,
    may_share,
};

/// Elements of a tile, and of its buffer, up to which its places are enumerated; the strides of a
/// larger one have to show by themselves that they differ.
const MAX_ENUMERATED: u64 = 1 << 18;

pub(super) fn verify_layouts(cx: &mut Verifier<'_>) {
    let kernel = cx.kernel;
    for (id, domain) in kernel.domains.iter() {
        cx.place = Place::Domain(id);
        match &domain.projection {
            Some(projection) => verify_projection(cx, domain, projection),
            None => verify_items(cx, domain),
        }
    }
    for (id, tile) in kernel.tiles.iter() {
        cx.place = Place::Tile(id);
        verify_tile(cx, tile);
    }
    verify_shared_memory(cx);
}

/// A projection has the axes that it keeps, and the layout that follows.
fn verify_projection(cx: &mut Verifier<'_>, domain: &Domain, projection: &Projection) {
    let whole = &cx.kernel.domains[projection.domain];
    let axes = &projection.axes;
    let are_axes = !axes.is_empty()
        && axes.is_sorted_by(|a, b| a < b)
        && axes.iter().all(|&axis| (axis as usize) < whole.axes.len());
    if !are_axes || whole.projection.is_some() {
        cx.fault(format!("axes {axes:?} of {} are no projection", projection.domain));
        return;
    }
    let kept = axes.iter().map(|&axis| whole.axes[axis as usize].extent);
    cx.require(domain.extents().into_iter().eq(kept), || {
        format!("its extents are not those of axes {axes:?} of {}", projection.domain)
    });
    cx.require(domain.layout == whole.layout.projected(axes), || {
        format!("its layout is not that of axes {axes:?} of {}", projection.domain)
    });
}

/// Each digit adds to one axis, so the (thread, register) pairs are the product
/// of the axes' digits: the rule holds of the whole where it holds of each axis.
fn verify_items(cx: &mut Verifier<'_>, domain: &Domain) {
    let layout = &domain.layout;
    let digits = || layout.threads.iter().chain(&layout.registers);
    for digit in digits() {
        let exists = (digit.axis as usize) < domain.axes.len();
        cx.require(exists, || format!("its layout has a digit of axis {}", digit.axis));
        cx.require(digit.size > 0, || format!("a digit of axis {} has no value", digit.axis));
    }
    let product = |digits: &[Digit]| {
        digits.iter().try_fold(1u32, |product, digit| product.checked_mul(digit.size))
    };
    let Some(n_threads) = product(&layout.threads).filter(|_| product(&layout.registers).is_some())
    else {
        cx.fault("its layout has more than 2^32 threads or registers");
        return;
    };
    let threads = cx.kernel.threads;
    cx.require(n_threads <= threads, || {
        format!("its layout takes {n_threads} threads of a block of {threads}")
    });
    if domain.n_items() == 0 {
        return;
    }
    for (axis, info) in (0..).zip(&domain.axes) {
        let hits = count_hits(digits().filter(|digit| digit.axis == axis), info.extent);
        if let Some(coord) = hits.iter().position(|&count| count != 1) {
            let times = match hits[coord] {
                0 => "no (thread, register) pair".to_owned(),
                count => format!("{count} (thread, register) pairs"),
            };
            cx.fault(format!("its layout gives `{} = {coord}` to {times}", info.name));
        }
    }
}

/// How often each coordinate below `extent` is a sum of the digits' values.
fn count_hits<'d>(digits: impl Iterator<Item = &'d Digit>, extent: u32) -> Vec<u32> {
    let mut hits = vec![0u32; extent as usize];
    if let Some(first) = hits.first_mut() {
        *first = 1;
    }
    for digit in digits {
        let before = std::mem::replace(&mut hits, vec![0; extent as usize]);
        for value in 0..digit.size {
            let offset = u64::from(value) * u64::from(digit.stride);
            // Sums only grow: what is past the extent stays there.
            let Some(offset) = usize::try_from(offset).ok().filter(|&at| at < before.len()) else {
                break;
            };
            for (to, from) in hits[offset..].iter_mut().zip(&before) {
                *to = to.saturating_add(*from);
            }
            if digit.stride == 0 && value > 1 {
                // Doubly covered already; a large digit would only take time.
                break;
            }
        }
    }
    hits
}

fn verify_tile(cx: &mut Verifier<'_>, tile: &Tile) {
    if let TileSpace::Local(domain) = tile.space {
        let exists = cx.kernel.domains.get(domain).is_some();
        cx.require(exists, || format!("it is of the items of {domain}, which does not exist"));
        let plain = tile.buffers == 1 && tile.layout.swizzle.is_none();
        cx.require(plain, || "an array of an item has buffers or a swizzle".to_owned());
    }
    let (n_axes, n_strides) = (tile.extents.len(), tile.layout.strides.len());
    cx.require(n_axes > 0, || "it has no axis".to_owned());
    cx.require(tile.buffers > 0, || "it has no buffer".to_owned());
    if n_axes != n_strides {
        cx.fault(format!("its layout has {n_strides} strides for {n_axes} axes"));
        return;
    }
    if let Some(swizzle) = tile.layout.swizzle {
        let apart = swizzle.shift.checked_add(swizzle.bits).is_some_and(|end| {
            end <= swizzle.source && swizzle.source.saturating_add(swizzle.bits) <= u32::BITS
        });
        if !apart {
            cx.fault("its swizzle reads bits that it changes, or that no offset has");
            return;
        }
    }
    let n_elems = tile
        .extents
        .iter()
        .try_fold(1u64, |product, &extent| product.checked_mul(u64::from(extent)));
    let strides = || place_by_strides(tile);
    match n_elems {
        Some(0) => {}
        Some(n_elems)
            if n_elems <= MAX_ENUMERATED && u64::from(tile.layout.size_elems) <= MAX_ENUMERATED =>
        {
            // Mostly the strides show it.
            if strides().is_err() {
                verify_places(cx, tile);
            }
        }
        _ => {
            if let Err(fault) = strides() {
                cx.fault(fault);
            }
        }
    }
}

/// No two elements at one place, none beyond the buffer, by trying each.
fn verify_places(cx: &mut Verifier<'_>, tile: &Tile) {
    let mut taken = vec![false; tile.layout.size_elems as usize];
    let mut indices = vec![0u32; tile.extents.len()];
    loop {
        let Some(place) = place_of(&tile.layout, &indices) else {
            cx.fault(format!("the place of element {indices:?} is past 2^32"));
            return;
        };
        let Some(taken) = taken.get_mut(place as usize) else {
            let size = tile.layout.size_elems;
            cx.fault(format!("element {indices:?} is at {place} of a buffer of {size} elements"));
            return;
        };
        if std::mem::replace(taken, true) {
            cx.fault(format!("element {indices:?} is at {place}, where another is"));
            return;
        }
        // The next index, the last axis fastest.
        let Some(axis) = (0..indices.len()).rev().find(|&a| indices[a] + 1 < tile.extents[a])
        else {
            return;
        };
        indices[axis] += 1;
        indices[axis + 1..].fill(0);
    }
}

fn place_of(layout: &TileLayout, indices: &[u32]) -> Option<u32> {
    let mut sum = 0u32;
    for (&stride, &index) in layout.strides.iter().zip(indices) {
        sum = sum.checked_add(stride.checked_mul(index)?)?;
    }
    Some(layout.offset(indices)).filter(|_| layout.swizzle.is_some()).or(Some(sum))
}

/// Whether the strides show by themselves that all elements have places of their own:
/// each is past all that the smaller ones reach. A swizzle permutes blocks of a power of
/// two that divides the buffer. What they lack, if they do not.
fn place_by_strides(tile: &Tile) -> Result<(), String> {
    let mut axes: Vec<(u64, u64)> = tile
        .layout
        .strides
        .iter()
        .zip(&tile.extents)
        .map(|(&stride, &extent)| (u64::from(stride), u64::from(extent)))
        .collect();
    axes.sort_unstable();
    let mut last = 0u64;
    for (stride, extent) in axes {
        if stride <= last && extent > 1 {
            return Err(format!(
                "a stride of {stride} meets elements up to {last} of smaller strides"
            ));
        }
        last = last.saturating_add(stride.saturating_mul(extent - 1));
    }
    let size = u64::from(tile.layout.size_elems);
    if last >= size {
        return Err(format!("its last element is at {last} of {size}"));
    }
    let block = tile.layout.swizzle.map_or(1, |swizzle| 1u64 << (swizzle.shift + swizzle.bits));
    match size.is_multiple_of(block) {
        true => Ok(()),
        false => {
            Err(format!("its swizzle permutes blocks of {block} elements of a buffer of {size}"))
        }
    }
}

/// In one block of memory: tiles that are in use together apart, all aligned, and as
/// many bytes as stated.
fn verify_shared_memory(cx: &mut Verifier<'_>) {
    let kernel = cx.kernel;
    let SharedMemory::Dynamic { bytes } = kernel.shared_memory else { return };
    let mut end_bytes = 0u64;
    let mut taken: Vec<(u64, u64, TileId)> = Vec::new();
    let shared = kernel.tiles.iter().filter(|(_, tile)| tile.space == TileSpace::Shared);
    for (id, tile) in shared {
        cx.place = Place::Tile(id);
        let first = u64::from(tile.offset_bytes);
        let past = first + tile.size_bytes();
        cx.require(tile.offset_bytes.is_multiple_of(MAX_ACCESS_BYTES), || {
            format!("it begins at byte {first}, not a multiple of {MAX_ACCESS_BYTES}")
        });
        cx.require(past <= u64::from(bytes), || {
            format!("it takes bytes {first}..{past} of {bytes}")
        });
        let other = taken.iter().find(|&&(begin, end, other)| {
            first < end && begin < past && !may_share(kernel, other, id)
        });
        if let Some(&(begin, end, other)) = other {
            let name = &kernel.tiles[other].name;
            cx.fault(format!(
                "it takes bytes {first}..{past}, where `{name}` takes {begin}..{end} at the same time"
            ));
        }
        taken.push((first, past, id));
        end_bytes = end_bytes.max(past);
    }
    cx.place = Place::Kernel;
    let needed = end_bytes.next_multiple_of(u64::from(MAX_ACCESS_BYTES));
    cx.require(u64::from(bytes) == needed, || {
        format!("{bytes} bytes of shared memory are stated; the tiles take {needed}")
    });
}
