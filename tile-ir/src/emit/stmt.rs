//! Statements in C++, and a kernel's declarations.

use super::Writer;
use super::types::type_name;
use crate::arena::EntityId as _;
use crate::program::{
    Domain, DomainId, ExprId, ExprKind, FragmentId, LoopRange, Raster, SharedMemory, Stmt,
    StmtKind, Unroll, VarId,
};

impl Writer<'_> {
    pub(super) fn signature(&mut self) {
        let kernel = self.kernel;
        let buffers = kernel.buffers.iter().map(|(id, buffer)| {
            let constant = if buffer.written { "" } else { "const " };
            let name = self.names.buffer(id);
            format!("{constant}{}* __restrict__ {name}", type_name(buffer.dtype))
        });
        let args = kernel.args.iter().map(|(id, arg)| {
            format!("const {} {}", type_name(arg.ty.storage()), self.names.arg(id))
        });
        let params: Vec<String> = buffers.chain(args).collect();
        let head = format!(
            "extern \"C\" __global__ void __launch_bounds__({})\n{}({})\n{{",
            kernel.threads,
            self.names.kernel,
            params.join(", ")
        );
        self.put(&head);
    }

    pub(super) fn declare_tiles(&mut self) {
        let kernel = self.kernel;
        if matches!(kernel.shared_memory, SharedMemory::Dynamic { .. }) {
            self.put("extern __shared__ __align__(16) unsigned char shared_memory[];");
        }
        for (id, tile) in kernel.tiles.iter() {
            let (name, ty) = (self.names.tile(id), type_name(tile.dtype));
            let extents: Vec<String> = tile.extents.iter().map(u32::to_string).collect();
            let shape = extents.join(" x ");
            let elems = tile.layout.size_elems * tile.buffers;
            let line = match kernel.shared_memory {
                SharedMemory::Static => {
                    format!("__shared__ __align__(16) {ty} {name}[{elems}]; // tile {shape}")
                }
                SharedMemory::Dynamic { .. } => format!(
                    "{ty}* const {name} = reinterpret_cast<{ty}*>(shared_memory + {}); // tile {shape}",
                    tile.offset_bytes
                ),
            };
            self.put(&line);
        }
    }

    /// From the linear block number to the grid's coordinates.
    pub(super) fn unflatten_grid(&mut self) {
        let kernel = self.kernel;
        let axes: Vec<(VarId, ExprId)> =
            kernel.grid.iter().map(|axis| (axis.var, axis.extent)).collect();
        if axes.is_empty() {
            return;
        }
        let declare = |writer: &Self, var: VarId, value: &str| {
            let ty = type_name(kernel.vars[var].ty.storage());
            format!("const {ty} {} = ({ty})({value});", writer.names.var(var))
        };
        if let [(only, _)] = axes[..] {
            let line = declare(self, only, "blockIdx.x");
            self.put(&line);
            return;
        }
        self.put("unsigned int block_number = blockIdx.x;");
        let (outer, inner) = axes.split_at(axes.len() - 2);
        let ((row, rows), (column, columns)) = (inner[0], inner[1]);
        let extents = [rows, columns].map(|extent| format!("(unsigned int){}", self.expr(extent)));
        self.put(&format!("const unsigned int tk_rows = {};", extents[0]));
        self.put(&format!("const unsigned int tk_columns = {};", extents[1]));
        self.put("unsigned int tk_plane = block_number / (tk_rows * tk_columns);");
        self.put("block_number %= tk_rows * tk_columns;");
        match kernel.raster {
            Raster::RowMajor => {
                let line = declare(self, row, "block_number / tk_columns");
                self.put(&line);
                let line = declare(self, column, "block_number % tk_columns");
                self.put(&line);
            }
            Raster::Grouped { rows: band } => {
                self.put(&format!("// bands of {band} rows of blocks share operands in L2"));
                self.put(&format!(
                    "const unsigned int tk_first = block_number / ({band}u * tk_columns) * {band}u;"
                ));
                self.put(&format!(
                    "const unsigned int tk_band = tk_rows - tk_first < {band}u ? tk_rows - tk_first : {band}u;"
                ));
                self.put("block_number -= tk_first * tk_columns;");
                let line = declare(self, row, "tk_first + block_number % tk_band");
                self.put(&line);
                let line = declare(self, column, "block_number / tk_band");
                self.put(&line);
            }
        }
        for &(var, extent) in outer.iter().rev() {
            let extent = format!("(unsigned int){}", self.expr(extent));
            let line = declare(self, var, &format!("tk_plane % {extent}"));
            self.put(&line);
            self.put(&format!("tk_plane /= {extent};"));
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

    pub(super) fn fragment_place(&self, id: FragmentId) -> String {
        let domain = self.kernel.fragments[id].domain;
        let name = self.names.fragment(id);
        match (&self.register, self.kernel.domains[domain].layout.n_registers()) {
            (_, 0 | 1) => name.to_owned(),
            (Some(register), _) => format!("{name}[{register}]"),
            (None, _) => format!("{name}[0]"),
        }
    }

    pub(super) fn stmts(&mut self, stmts: &[Stmt]) {
        for stmt in stmts {
            self.stmt(stmt);
        }
    }

    fn mark_line(&mut self, stmt: &Stmt) {
        let line = self.program.spans.range(stmt.span).line;
        if let Some(file) = self.file
            && line != 0
        {
            let file = file.replace('\\', "\\\\").replace('"', "\\\"");
            self.out.push_str(&format!("#line {line} \"{file}\"\n"));
            self.line = line;
        }
    }

    fn stmt(&mut self, stmt: &Stmt) {
        self.mark_line(stmt);
        match &stmt.kind {
            StmtKind::Let { var, value } => {
                let ty = type_name(self.kernel.vars[*var].ty.storage());
                let name = self.names.var(*var);
                let line = match value {
                    Some(value) => format!("{ty} {name} = {};", self.whole(*value)),
                    None => format!("{ty} {name};"),
                };
                self.put(&line);
            }
            StmtKind::Assign { var, value } => {
                let line = format!("{} = {};", self.names.var(*var), self.whole(*value));
                self.put(&line);
            }
            StmtKind::SetFragment { fragment, value } => {
                let line = format!("{} = {};", self.fragment_place(*fragment), self.whole(*value));
                self.put(&line);
            }
            StmtKind::Store { access, value } => {
                let store = format!("{} = {};", self.place(access), self.whole(*value));
                let line = match self.guard(access) {
                    Some(guard) => format!("if {guard} {{ {store} }}"),
                    None => store,
                };
                self.put(&line);
            }
            StmtKind::Copy { dst, src, token: _ } => {
                let value = match (self.guard(src), src.pad) {
                    (Some(guard), Some(pad)) => {
                        format!("{guard} ? {} : {}", self.place(src), self.expr(pad))
                    }
                    _ => self.place(src),
                };
                let store = format!("{} = {value};", self.place(dst));
                let line = match self.guard(dst) {
                    Some(guard) => format!("if {guard} {{ {store} }}"),
                    None => store,
                };
                self.put(&line);
            }
            // Copies are done where they stand.
            StmtKind::Wait(_) => {}
            StmtKind::Items { domain, body } => self.items(*domain, body),
            StmtKind::For { var, range, unroll, body } => {
                self.counted_loop(*var, range, *unroll, body);
            }
            StmtKind::While { cond, body } => {
                let head = format!("while ({}) {{", self.whole(*cond));
                self.nested(&head, body);
            }
            StmtKind::If { cond, then, otherwise } => {
                let head = format!("if ({}) {{", self.whole(*cond));
                self.put(&head);
                self.indented(then);
                if !otherwise.is_empty() {
                    self.put("} else {");
                    self.indented(otherwise);
                }
                self.put("}");
            }
            StmtKind::Barrier(_) => self.put("__syncthreads();"),
        }
    }

    fn indented(&mut self, body: &[Stmt]) {
        self.depth += 1;
        self.stmts(body);
        self.depth -= 1;
    }

    fn nested(&mut self, head: &str, body: &[Stmt]) {
        self.put(head);
        self.indented(body);
        self.put("}");
    }

    /// One loop per register digit, the most significant outermost; inside, the
    /// item's coordinates.
    fn items(&mut self, id: DomainId, body: &[Stmt]) {
        let domain = &self.kernel.domains[id];
        let mut opened = 0;
        if domain.layout.n_threads() < self.kernel.threads {
            self.open(&format!("if (threadIdx.x < {}) {{", domain.layout.n_threads()), &mut opened);
        } else {
            self.open("{", &mut opened);
        }
        for axis in 0..domain.axes.len() {
            let coord = format!("{}_of_thread", self.names.coord(id, axis));
            let line = format!("const int tk_{coord} = {};", thread_part(domain, axis));
            self.put(&line);
        }
        for (number, digit) in domain.layout.registers.iter().enumerate().rev() {
            self.put("#pragma unroll");
            let head = format!(
                "for (int tk_r{number} = 0; tk_r{number} < {}; ++tk_r{number}) {{",
                digit.size
            );
            self.open(&head, &mut opened);
        }
        let mut inside = Vec::new();
        for (axis, info) in domain.axes.iter().enumerate() {
            let name = self.names.coord(id, axis).to_owned();
            let mut terms = vec![format!("tk_{name}_of_thread")];
            for (number, digit) in domain.layout.registers.iter().enumerate() {
                if digit.axis as usize == axis {
                    terms.push(format!("tk_r{number} * {}", digit.stride));
                }
            }
            self.put(&format!("const int {name} = {};", terms.join(" + ")));
            if domain.layout.reach(axis as u32) > info.extent {
                inside.push(format!("{name} < {}", info.extent));
            }
        }
        if !inside.is_empty() {
            self.open(&format!("if ({}) {{", inside.join(" && ")), &mut opened);
        }
        let outer = self.register.replace(register_number(domain));
        self.stmts(body);
        self.register = outer;
        for _ in 0..opened {
            self.depth -= 1;
            self.put("}");
        }
    }

    fn open(&mut self, head: &str, opened: &mut usize) {
        self.put(head);
        self.depth += 1;
        *opened += 1;
    }

    fn counted_loop(&mut self, var: VarId, range: &LoopRange, unroll: Unroll, body: &[Stmt]) {
        let ty = type_name(self.kernel.vars[var].ty.storage());
        let k = self.names.var(var).to_owned();
        let number = var.index();
        let pragma = match unroll {
            Unroll::Never => Some("#pragma unroll 1".to_owned()),
            Unroll::Auto => None,
            Unroll::By(count) => Some(format!("#pragma unroll {count}")),
            Unroll::Full => Some("#pragma unroll".to_owned()),
        };
        // Bounds are computed once, before the loop.
        let mut opened = 0;
        let mut once = |writer: &mut Self, name: &str, expr: ExprId| -> String {
            if writer.is_fixed(expr) {
                return writer.expr(expr);
            }
            if opened == 0 {
                writer.open("{", &mut opened);
            }
            let name = format!("tk_{name}{number}");
            writer.put(&format!("const {ty} {name} = {};", writer.whole(expr)));
            name
        };
        let (head, first) = match *range {
            LoopRange::Between { start, end, step, reversed } => {
                let end = once(self, "end", end);
                let step_text = once(self, "step", step);
                if reversed {
                    let start = once(self, "start", start);
                    let trips = format!("tk_trips<{ty}>({start}, {end}, {step_text})");
                    let n = format!("tk_n{number}");
                    (
                        format!("for ({ty} {n} = {trips} - 1; {n} >= 0; --{n}) {{"),
                        Some(format!("const {ty} {k} = {start} + {n} * {step_text};")),
                    )
                } else {
                    let start = self.whole(start);
                    let runs = if self.is_positive(step) {
                        String::new()
                    } else {
                        format!("{step_text} > 0 && ")
                    };
                    let next = match step_text.as_str() {
                        "1" => format!("++{k}"),
                        step => format!("{k} += {step}"),
                    };
                    (format!("for ({ty} {k} = {start}; {runs}{k} < {end}; {next}) {{"), None)
                }
            }
            LoopRange::Halving(n) => {
                let n = self.expr(n);
                (format!("for ({ty} {k} = {n} / 2; {k} >= 1; {k} /= 2) {{"), None)
            }
            LoopRange::Doubling(n) => {
                let n = once(self, "end", n);
                (format!("for ({ty} {k} = 1; {k} < {n}; {k} *= 2) {{"), None)
            }
        };
        if let Some(pragma) = pragma {
            self.put(&pragma);
        }
        self.put(&head);
        self.depth += 1;
        if let Some(first) = first {
            self.put(&first);
        }
        self.stmts(body);
        self.depth -= 1;
        self.put("}");
        for _ in 0..opened {
            self.depth -= 1;
            self.put("}");
        }
    }

    /// Whether an expression's value cannot change during the kernel.
    fn is_fixed(&self, expr: ExprId) -> bool {
        match &self.kernel.exprs[expr].kind {
            ExprKind::Literal(_) | ExprKind::Arg(_) => true,
            ExprKind::CeilDiv { n, d } => self.is_fixed(*n) && self.is_fixed(*d),
            _ => false,
        }
    }

    fn is_positive(&self, expr: ExprId) -> bool {
        matches!(
            self.kernel.exprs[expr].kind,
            ExprKind::Literal(crate::program::Literal::Int(value)) if value > 0
        )
    }
}

/// What the thread's digits add to a coordinate.
fn thread_part(domain: &Domain, axis: usize) -> String {
    let mut terms = Vec::new();
    let mut below = 1u32;
    let count = domain.layout.threads.len();
    for (number, digit) in domain.layout.threads.iter().enumerate() {
        if digit.axis as usize == axis {
            let mut text = "(int)threadIdx.x".to_owned();
            if below > 1 {
                text = format!("{text} / {below}");
            }
            if number + 1 < count {
                text = format!("{text} % {}", digit.size);
            }
            if digit.stride > 1 {
                text = format!("{text} * {}", digit.stride);
            }
            terms.push(text);
        }
        below *= digit.size;
    }
    if terms.is_empty() { "0".to_owned() } else { terms.join(" + ") }
}

/// The register's number from the loops over its digits.
fn register_number(domain: &Domain) -> String {
    let mut below = 1u32;
    let mut terms = Vec::new();
    for (number, digit) in domain.layout.registers.iter().enumerate() {
        terms.push(match below {
            1 => format!("tk_r{number}"),
            _ => format!("tk_r{number} * {below}"),
        });
        below *= digit.size;
    }
    if terms.is_empty() { "0".to_owned() } else { terms.join(" + ") }
}
