//! What stands before a kernel's statements: its signature, its tiles, the
//! block's coordinates, its register arrays.

use super::Writer;
use super::types::type_name;
use crate::program::{
    BufferSpace, ExprId, LoopRange, MAX_ACCESS_BYTES, ProgramKernel, Raster, SharedMemory, Stmt,
    StmtKind, Tile, TileId, TileLayout, TileSpace, VarId,
};

impl Writer<'_> {
    pub(super) fn signature(&mut self) {
        let kernel = self.kernel;
        let mut params: Vec<(String, String)> = Vec::new();
        for (id, buffer) in kernel.buffers.iter() {
            let (ty, name) = (type_name(buffer.dtype), self.names.buffer(id));
            let param = match buffer.space {
                // The read-only path is for what the kernel never writes.
                BufferSpace::Global => {
                    let constant = if buffer.written { "" } else { "const " };
                    format!("{constant}{ty}* __restrict__ {name}")
                }
                BufferSpace::Constant { elems } => {
                    format!("const __grid_constant__ tk_constant<{ty}, {elems}> {name}")
                }
            };
            let extents: Vec<String> =
                buffer.extents.iter().map(|&extent| self.factor(extent)).collect();
            params.push((param, format!(" // {}", extents.join(" x "))));
        }
        for (id, arg) in kernel.args.iter() {
            let (ty, name) = (type_name(arg.ty.storage()), self.names.arg(id));
            let constant = if self.says_facts && arg.divisor > 1 { "" } else { "const " };
            params.push((format!("{constant}{ty} {name}"), String::new()));
        }
        let (threads, name) = (kernel.threads, self.names.kernel.clone());
        let bounds = match kernel.min_blocks {
            0 => threads.to_string(),
            blocks => format!("{threads}, {blocks}"),
        };
        self.put(&format!("extern \"C\" __global__ void __launch_bounds__({bounds}) {name}("));
        let last = params.len().saturating_sub(1);
        for (number, (param, comment)) in params.iter().enumerate() {
            let comma = if number == last { "" } else { "," };
            self.put(&format!("    {param}{comma}{comment}"));
        }
        self.put(") {");
    }

    /// Says what the launch promises, where work-items go along rows one by one: the
    /// compiler then reads several elements at once.
    ///
    /// Measured on an H200: PolyBench's `mvt` of 16384 takes 2.8 ms with it and 6.2 without,
    /// its `covariance` of 4096 3.0 and 4.0.
    pub(super) fn declare_facts(&mut self) {
        if !self.says_facts {
            return;
        }
        let kernel = self.kernel;
        for (id, buffer) in kernel.buffers.iter() {
            if buffer.is_aligned && buffer.space == BufferSpace::Global {
                let constant = if buffer.written { "" } else { "const " };
                let (ty, name) = (type_name(buffer.dtype), self.names.buffer(id));
                let bytes = MAX_ACCESS_BYTES;
                self.put(&format!(
                    "{name} = ({constant}{ty}*)__builtin_assume_aligned({name}, {bytes});"
                ));
            }
        }
        for (id, arg) in kernel.args.iter().filter(|(_, arg)| arg.divisor > 1) {
            let (name, divisor) = (self.names.arg(id), arg.divisor);
            self.put(&format!("{name} &= -{divisor}; // a multiple of {divisor}"));
        }
    }

    pub(super) fn declare_tiles(&mut self) {
        let kernel = self.kernel;
        if matches!(kernel.shared_memory, SharedMemory::Dynamic { .. }) {
            self.put("extern __shared__ __align__(16) unsigned char shared_memory[];");
        }
        for (id, tile) in kernel.tiles.iter() {
            let (name, ty) = (self.names.tile(id), type_name(tile.dtype));
            let elems = u64::from(tile.layout.size_elems) * u64::from(tile.buffers);
            if let TileSpace::Local(domain) = tile.space {
                let items = u64::from(kernel.domains[domain].layout.n_registers().max(1));
                let each = if items > 1 { ", one for each item" } else { "" };
                let extents: Vec<String> = tile.extents.iter().map(u32::to_string).collect();
                let line = format!("{ty} {name}[{}];", elems * items);
                self.put(&format!("{line} // array {}{each}", extents.join(" x ")));
                continue;
            }
            let line = match kernel.shared_memory {
                SharedMemory::Static => format!("__shared__ __align__(16) {ty} {name}[{elems}];"),
                SharedMemory::Dynamic { .. } => {
                    let place = match tile.offset_bytes {
                        0 => "shared_memory".to_owned(),
                        bytes => format!("shared_memory + {bytes}"),
                    };
                    format!("{ty}* const {name} = reinterpret_cast<{ty}*>({place});")
                }
            };
            self.put(&format!("{line} // {}{}", describe(tile), self.places_shared_by(id)));
        }
    }

    /// `, in the place of a_s and b_s`, of a tile that lies where others have been.
    fn places_shared_by(&self, id: TileId) -> String {
        if self.kernel.shared_memory == SharedMemory::Static {
            return String::new();
        }
        let place = |tile: &Tile| {
            let begin = u64::from(tile.offset_bytes);
            begin..begin + tile.size_bytes()
        };
        let own = place(&self.kernel.tiles[id]);
        let before = self.kernel.tiles.iter().take_while(|(other, _)| *other != id);
        let shared = before.filter(|(_, tile)| tile.space == TileSpace::Shared);
        let names: Vec<&str> = shared
            .filter(|(_, tile)| place(tile).start < own.end && own.start < place(tile).end)
            .map(|(other, _)| self.names.tile(other))
            .collect();
        match names.as_slice() {
            [] => String::new(),
            names => format!(", in the place of {}", names.join(" and ")),
        }
    }

    /// From the linear block number to the grid's coordinates.
    pub(super) fn unflatten_grid(&mut self) {
        let kernel = self.kernel;
        let axes: Vec<(VarId, ExprId)> =
            kernel.grid.iter().map(|axis| (axis.var, axis.extent)).collect();
        let (outer, (row, rows), (column, columns)) = match axes.as_slice() {
            [] => return,
            [(only, _)] => return self.declare_coordinate(*only, "blockIdx.x"),
            [outer @ .., row, column] => (outer, *row, *column),
        };
        let is_banded = matches!(kernel.raster, Raster::Grouped { .. });
        if is_banded || !outer.is_empty() {
            let line = format!("const unsigned int tk_rows = {};", self.whole(rows));
            self.put(&line);
        }
        let line = format!("const unsigned int tk_columns = {};", self.whole(columns));
        self.put(&line);
        let mut block = "blockIdx.x".to_owned();
        if !outer.is_empty() {
            self.put("unsigned int tk_plane = blockIdx.x / (tk_rows * tk_columns);");
            self.put("const unsigned int tk_block = blockIdx.x % (tk_rows * tk_columns);");
            block = "tk_block".to_owned();
        }
        match kernel.raster {
            Raster::RowMajor => {
                self.declare_coordinate(row, &format!("{block} / tk_columns"));
                self.declare_coordinate(column, &format!("{block} % tk_columns"));
            }
            Raster::Grouped { rows: band } => {
                self.put(&format!("// bands of {band} rows of blocks share operands in L2"));
                self.put(&format!(
                    "const unsigned int tk_first = {block} / ({band} * tk_columns) * {band};"
                ));
                self.put(&format!(
                    "const unsigned int tk_band = tk_rows - tk_first < {band} ? tk_rows - tk_first : {band};"
                ));
                self.put(&format!(
                    "const unsigned int tk_within = {block} - tk_first * tk_columns;"
                ));
                self.declare_coordinate(row, "tk_first + tk_within % tk_band");
                self.declare_coordinate(column, "tk_within / tk_band");
            }
        }
        for (number, &(var, extent)) in outer.iter().enumerate().rev() {
            if number == 0 {
                self.declare_coordinate(var, "tk_plane");
                break;
            }
            let extent = format!("(unsigned int){}", self.factor(extent));
            self.declare_coordinate(var, &format!("tk_plane % {extent}"));
            self.put(&format!("tk_plane /= {extent};"));
        }
    }

    fn declare_coordinate(&mut self, var: VarId, value: &str) {
        let ty = type_name(self.kernel.vars[var].ty.storage());
        let line = format!("const {ty} {} = {value};", self.names.var(var));
        self.put(&line);
    }

    /// The thread's number, where some items are told apart by it.
    pub(super) fn declare_thread(&mut self) {
        if self.kernel.threads > 1 {
            self.put("const int thread = threadIdx.x;");
        }
    }

    pub(super) fn declare_fragments(&mut self) {
        let kernel = self.kernel;
        for (id, fragment) in kernel.fragments.iter() {
            let registers = kernel.domains[fragment.domain].layout.n_registers();
            let (ty, name) = (type_name(fragment.ty.storage()), self.names.fragment(id));
            let line = match registers {
                0 | 1 => format!("{ty} {name};"),
                _ => format!("{ty} {name}[{registers}];"),
            };
            self.put(&line);
        }
    }
}

/// `tile 64 x 16, strides 17 and 1, 2 buffers`
fn describe(tile: &Tile) -> String {
    let numbers = |values: &[u32], between: &str| {
        values.iter().map(u32::to_string).collect::<Vec<String>>().join(between)
    };
    let mut text = format!("tile {}", numbers(&tile.extents, " x "));
    if tile.layout.strides != TileLayout::row_major(&tile.extents).strides {
        text.push_str(&format!(", strides {}", numbers(&tile.layout.strides, " and ")));
    }
    if tile.layout.swizzle.is_some() {
        text.push_str(", swizzled");
    }
    if tile.buffers > 1 {
        text.push_str(&format!(", {} buffers", tile.buffers));
    }
    text
}

/// Whether work-items go along something as far as the launch says, each on its own.
pub(super) fn has_long_walks(kernel: &ProgramKernel) -> bool {
    let is_unknown = |bound: &ExprId| kernel.constant(*bound).is_none();
    any_stmt(&kernel.body, &|stmt| match &stmt.kind {
        StmtKind::For { range: LoopRange::Between { start, end, .. }, body, .. } => {
            let meets = any_stmt(body, &|stmt| matches!(stmt.kind, StmtKind::Barrier(_)));
            !meets && [start, end].into_iter().any(is_unknown)
        }
        _ => false,
    })
}

fn any_stmt(stmts: &[Stmt], is_wanted: &dyn Fn(&Stmt) -> bool) -> bool {
    stmts.iter().any(|stmt| {
        is_wanted(stmt) || stmt.kind.bodies().into_iter().any(|body| any_stmt(body, is_wanted))
    })
}
