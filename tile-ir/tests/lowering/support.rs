//! Programs from text.

use tile_ir::check::{CheckedKernel, check_kernel};
use tile_ir::config::{AxisItems, Config, TilePadding, with_tiles};
use tile_ir::device::{DeviceProperties, known};
use tile_ir::dtype::DType;
use tile_ir::kernel::VarKind;
use tile_ir::lower::{Binding, lower_watched};
use tile_ir::program::{IndexWidth, Program};
use tile_ir::resolve::resolve_kernel;

/// A kernel and how it is lowered.
#[derive(Clone)]
pub(crate) struct Case {
    pub(crate) text: &'static str,
    pub(crate) dtype: DType,
    pub(crate) tiles: Vec<(&'static str, u32)>,
    /// Threads along each axis of the block domain; where it is empty, of the
    /// whole block.
    pub(crate) axes: Vec<u32>,
    pub(crate) threads: u32,
    /// Items in a row on a thread, along each axis of the block domain.
    pub(crate) run: u32,
    /// Bytes of one access of a cooperative loop.
    pub(crate) copy_bytes: u32,
    /// Buffers of the tiles that a phase fills.
    pub(crate) stages: u32,
    pub(crate) fragment_buffers: u32,
    /// Bytes to which cooperative loops align their stores.
    pub(crate) align_bytes: u32,
    /// Whether rows that begin anywhere are loaded in whole vectors.
    pub(crate) whole_vectors: bool,
    pub(crate) split_edges: bool,
    pub(crate) padding: TilePadding,
    /// Whether what is touched once passes the caches by.
    pub(crate) stream: bool,
    /// A divisor of every dimension.
    pub(crate) divisor: u32,
}

impl Case {
    pub(crate) fn checked(&self) -> CheckedKernel {
        let item = match tile_syntax::parse_kernel_text(self.text) {
            Ok(item) => item,
            Err(errors) => panic!("{errors}"),
        };
        let kernel = match resolve_kernel(&item) {
            Ok(kernel) => kernel,
            Err(diags) => panic!("{diags:?}"),
        };
        match check_kernel(kernel) {
            Ok(checked) => checked.kernel,
            Err(diags) => panic!("{diags:?}"),
        }
    }

    /// The configuration, for ragged shapes: nothing divides a dimension.
    pub(crate) fn config(&self, checked: &CheckedKernel) -> Config {
        let n_dims = n_dims(checked);
        let device = device();
        let chosen = with_tiles(checked, &[self.dtype], &device, &vec![1000; n_dims], &self.tiles);
        let chosen = chosen.unwrap_or_else(|error| panic!("{error}"));
        let block = self
            .axes
            .iter()
            .map(|&threads| AxisItems { run: self.run, ..AxisItems::strided(threads) });
        let block = block.collect();
        Config {
            threads: self.threads,
            block,
            copy_bytes: self.copy_bytes,
            stages: self.stages,
            unroll_stages: false,
            async_bytes: 16,
            align_bytes: self.align_bytes,
            whole_vectors: self.whole_vectors,
            split_edges: self.split_edges,
            padding: self.padding,
            stream_loads: self.stream,
            stream_stores: self.stream,
            fragment_buffers: self.fragment_buffers,
            raster_rows: 8,
            ..chosen
        }
    }

    /// The program after each pass.
    pub(crate) fn programs(&self) -> Vec<(&'static str, Program)> {
        let checked = self.checked();
        let config = self.config(&checked);
        let binding = Binding {
            types: vec![self.dtype],
            index_width: IndexWidth::Bits32,
            dim_divisors: vec![self.divisor; n_dims(&checked)],
            layouts: Vec::new(),
        };
        let mut programs = Vec::new();
        let mut watch = |pass, program: &Program| programs.push((pass, program.clone()));
        let lowered = lower_watched(&checked, &binding, &config, &device(), &mut watch);
        if let Err(error) = lowered {
            panic!("{error}");
        }
        programs
    }

    /// The program after the last pass.
    pub(crate) fn program(&self) -> Program {
        self.programs().pop().expect("there is a pass").1
    }
}

pub(crate) fn device() -> DeviceProperties {
    known("A100").expect("the device is in the table")
}

pub(crate) fn n_dims(checked: &CheckedKernel) -> usize {
    checked.kernel().vars.values().filter(|var| var.kind == VarKind::Dim).count()
}

/// The product whose items load their operands themselves.
pub(crate) fn unhoisted() -> Case {
    Case { fragment_buffers: 0, ..matmul() }
}

pub(crate) fn matmul() -> Case {
    Case {
        text: crate::kernels::MATMUL,
        dtype: DType::F32,
        tiles: vec![("TM", 64), ("TN", 32), ("TK", 16)],
        axes: vec![16, 16],
        threads: 256,
        run: 1,
        copy_bytes: 4,
        stages: 1,
        fragment_buffers: 1,
        align_bytes: 0,
        whole_vectors: false,
        split_edges: false,
        padding: TilePadding::Counted,
        stream: false,
        divisor: 1,
    }
}

pub(crate) fn transpose() -> Case {
    Case {
        text: crate::kernels::TRANSPOSE,
        dtype: DType::F32,
        tiles: vec![("TR", 32), ("TC", 32)],
        axes: Vec::new(),
        threads: 256,
        run: 1,
        copy_bytes: 4,
        stages: 1,
        fragment_buffers: 1,
        align_bytes: 0,
        whole_vectors: false,
        split_edges: false,
        padding: TilePadding::Counted,
        stream: false,
        divisor: 1,
    }
}

pub(crate) fn add() -> Case {
    Case {
        text: crate::kernels::ADD,
        dtype: DType::F32,
        tiles: vec![("TN", 1024)],
        axes: vec![256],
        threads: 256,
        run: 1,
        copy_bytes: 4,
        stages: 1,
        fragment_buffers: 1,
        align_bytes: 0,
        whole_vectors: false,
        split_edges: false,
        padding: TilePadding::Counted,
        stream: false,
        divisor: 1,
    }
}

pub(crate) fn filtered() -> Case {
    Case { text: crate::kernels::FILTERED, tiles: vec![("TN", 128)], ..add() }
}

/// The id of the `index`-th entry.
pub(crate) fn id<I: tile_ir::arena::EntityId>(index: usize) -> I {
    I::from_index(index)
}
