//! The tables of a kernel.

use super::Printer;
use crate::arena::EntityId as _;
use crate::program::{
    ArgSource, BufferSource, BufferSpace, Digit, Domain, DomainId, ExprId, Raster, SharedMemory,
    Tile, TileSpace,
};

impl Printer<'_> {
    pub(super) fn write_tables(&mut self) {
        self.write_arguments();
        self.write_grid();
        self.write_roles();
        self.write_tiles();
        self.write_domains();
        let kernel = self.kernel;
        for (id, fragment) in kernel.fragments.iter() {
            let name = &self.names.fragments[id.index()];
            let kind = if fragment.accumulator { ", accumulator" } else { "" };
            let text =
                format!("fragment {name}: {} per item of {}{kind}", fragment.ty, fragment.domain);
            self.line(1, &text);
        }
    }

    fn write_arguments(&mut self) {
        let kernel = self.kernel;
        for (id, buffer) in kernel.buffers.iter() {
            let reference = if buffer.written { "&mut " } else { "&" };
            let source = match buffer.source {
                BufferSource::Tensor(_) => String::new(),
                BufferSource::Workspace(workspace) => format!(" in {workspace}"),
            };
            let space = match buffer.space {
                BufferSpace::Global => "",
                BufferSpace::Constant { .. } => " in constant memory",
            };
            let name = &self.names.buffers[id.index()];
            let (extents, strides) = (self.list(&buffer.extents), self.list(&buffer.strides));
            let text = format!(
                "buffer {name}: {reference}[{}; {extents}] by [{strides}]{source}{space}",
                buffer.dtype
            );
            self.line(1, &text);
        }
        for (id, arg) in kernel.args.iter() {
            let source = match arg.source {
                ArgSource::Dim(_) => "dimension".to_owned(),
                ArgSource::Scalar(_) => "scalar".to_owned(),
                ArgSource::Stride { tensor, axis, unit } => {
                    let source = BufferSource::Tensor(tensor);
                    let buffer = kernel.buffers.iter().find(|(_, info)| info.source == source);
                    let name = buffer.map(|(id, _)| self.names.buffers[id.index()].as_str());
                    let unit = if unit == 1 { String::new() } else { format!(" / {unit}") };
                    format!("stride {axis} of {}{unit}", name.unwrap_or("no buffer"))
                }
            };
            let text = format!("{source} {}: {}", self.names.args[id.index()], arg.ty);
            self.line(1, &text);
        }
    }

    fn write_grid(&mut self) {
        let kernel = self.kernel;
        let axis = |axis: &crate::program::GridAxis| {
            format!("{} in {}", self.var(axis.var), self.whole(axis.extent))
        };
        let axes: Vec<String> = kernel.grid.iter().map(axis).collect();
        let raster = match kernel.raster {
            Raster::RowMajor => String::new(),
            Raster::Grouped { rows } => format!(" in bands of {rows} rows"),
        };
        let text = match axes.as_slice() {
            [] => "grid of one block".to_owned(),
            axes => format!("grid ({}){raster}", axes.join(", ")),
        };
        self.line(1, &text);
    }

    fn write_roles(&mut self) {
        let kernel = self.kernel;
        for (id, role) in kernel.roles.iter().skip(1) {
            let end = role.n_warps.map(|n| u64::from(role.first_warp) + u64::from(n));
            let end = end.map(|end| end.to_string()).unwrap_or_default();
            let text = format!("role {id} {}: warps {}..{end}", role.name, role.first_warp);
            self.line(1, &text);
        }
    }

    fn write_tiles(&mut self) {
        let kernel = self.kernel;
        if let SharedMemory::Dynamic { bytes } = kernel.shared_memory {
            self.line(1, &format!("shared memory of {bytes} bytes"));
        }
        for (id, tile) in kernel.tiles.iter() {
            let (name, tile_text) = (&self.names.tiles[id.index()], self.tile(tile));
            let text = match tile.space {
                TileSpace::Shared => format!("shared {name}: {tile_text}"),
                TileSpace::Local(domain) => {
                    format!("local {name}: {tile_text}, per item of {domain}")
                }
            };
            self.line(1, &text);
        }
    }

    fn tile(&self, tile: &Tile) -> String {
        let mut text = format!(
            "[{}; {}] by [{}], {} elements",
            tile.dtype,
            numbers(&tile.extents),
            numbers(&tile.layout.strides),
            tile.layout.size_elems
        );
        if let Some(swizzle) = tile.layout.swizzle {
            text.push_str(&format!(
                ", bits {}+{} xor bits {}+{}",
                swizzle.shift, swizzle.bits, swizzle.source, swizzle.bits
            ));
        }
        if tile.buffers != 1 {
            text.push_str(&format!(", {} buffers", tile.buffers));
        }
        let is_placed = matches!(self.kernel.shared_memory, SharedMemory::Dynamic { .. });
        if is_placed && tile.space == TileSpace::Shared {
            text.push_str(&format!(", from byte {}", tile.offset_bytes));
        }
        text
    }

    fn write_domains(&mut self) {
        let kernel = self.kernel;
        for (id, domain) in kernel.domains.iter() {
            let kind = if id == kernel.block_domain { "block " } else { "" };
            let axes = domain.axes.iter().enumerate();
            let axes =
                axes.map(|(axis, info)| format!("{} in {}", self.coord(id, axis), info.extent));
            let axes: Vec<String> = axes.collect();
            let threads = self.digits(id, &domain.layout.threads);
            let registers = match domain.layout.registers.as_slice() {
                [] => String::new(),
                digits => format!(", registers {}", self.digits(id, digits)),
            };
            let of = domain.projection.as_ref();
            let of = of.map_or_else(String::new, |whole| format!(" of {}", whole.domain));
            let axes = axes.join(", ");
            let text = format!("{kind}domain {id} ({axes}){of}: threads {threads}{registers}");
            self.line(1, &text);
        }
    }

    fn digits(&self, domain: DomainId, digits: &[Digit]) -> String {
        let texts = digits.iter().map(|digit| {
            let axis = self.coord(domain, digit.axis as usize);
            match digit.stride {
                0 => format!("any {}", digit.size),
                1 => format!("{axis} {}", digit.size),
                stride => format!("{axis} {} by {stride}", digit.size),
            }
        });
        format!("[{}]", texts.collect::<Vec<String>>().join(", "))
    }

    /// `items (ty, tx) in d0`
    pub(super) fn items_of(&self, id: DomainId) -> String {
        let n_axes = self.kernel.domains.get(id).map_or(0, |domain: &Domain| domain.axes.len());
        let names: Vec<String> = (0..n_axes).map(|axis| self.coord(id, axis)).collect();
        match names.as_slice() {
            [] => format!("items in {id}"),
            [name] => format!("items {name} in {id}"),
            names => format!("items ({}) in {id}", names.join(", ")),
        }
    }

    /// Expressions with commas between them.
    pub(super) fn list(&self, ids: &[ExprId]) -> String {
        ids.iter().map(|&id| self.whole(id)).collect::<Vec<String>>().join(", ")
    }
}

fn numbers(values: &[u32]) -> String {
    values.iter().map(u32::to_string).collect::<Vec<String>>().join(", ")
}
