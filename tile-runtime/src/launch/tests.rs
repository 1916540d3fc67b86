//! What a launch says of arguments that do not fit, on a hand-made kernel.

use tile_ir::arena::Arena;
use tile_ir::config::{AxisItems, Config};
use tile_ir::dtype::DType;
use tile_ir::kernel::{
    Edge, ElemType, Expr, ExprId, ExprKind, Kernel, Literal, Param, TensorParam, TileDomain,
    TileParam, TileParamId, Type, Var, VarId, VarKind,
};
use tile_ir::op::BinaryOp;
use tile_ir::program::IndexWidth;
use tile_ir::span::{SourceRange, SpanTable};
use tile_ir::syntax::TensorSpace;

use super::argument::Argument;
use super::bind::{bind, binding_of_elems, check_extents};
use super::run::check_blocks;
use crate::device::Device;
use crate::options::Options;

/// Builds the tables of a kernel's signature.
struct Signature {
    kernel: Kernel,
}

impl Signature {
    fn new(name: &str) -> Self {
        let mut spans = SpanTable::new();
        let span = spans.push(SourceRange::default());
        let kernel = Kernel {
            name: name.to_owned(),
            docs: Vec::new(),
            type_params: Arena::new(),
            params: Vec::new(),
            tensors: Arena::new(),
            scalars: Arena::new(),
            tile_params: Arena::new(),
            constraints: Vec::new(),
            grid: Vec::new(),
            block: None,
            tiles: Arena::new(),
            vars: Arena::new(),
            exprs: Arena::new(),
            body: Vec::new(),
            exits: Vec::new(),
            promises: Vec::new(),
            spans,
            span,
        };
        Self { kernel }
    }

    fn var(&mut self, name: &str, kind: VarKind) -> VarId {
        let span = self.kernel.span;
        let (name, ty) = (name.to_owned(), Type::Index);
        self.kernel.vars.push(Var { name, ty, kind, accumulator: false, span })
    }

    fn dim(&mut self, name: &str) -> ExprId {
        let var = self.var(name, VarKind::Dim);
        self.expr(ExprKind::Var(var))
    }

    fn tile(&mut self, name: &str) -> ExprId {
        let id: TileParamId = tile_ir::arena::EntityId::from_index(self.kernel.tile_params.len());
        let var = self.var(name, VarKind::TileParam(id));
        let (name, span) = (name.to_owned(), self.kernel.span);
        self.kernel.tile_params.push(TileParam { name, domain: TileDomain::Any, var, span });
        self.expr(ExprKind::Var(var))
    }

    fn int(&mut self, value: i128) -> ExprId {
        self.expr(ExprKind::Literal(Literal::Int(value)))
    }

    fn binary(&mut self, op: BinaryOp, lhs: ExprId, rhs: ExprId) -> ExprId {
        self.expr(ExprKind::Binary { op, lhs, rhs })
    }

    fn expr(&mut self, kind: ExprKind) -> ExprId {
        self.kernel.exprs.push(Expr { kind, ty: Type::Index, span: self.kernel.span })
    }

    fn tensor(&mut self, name: &str, mutable: bool, extents: &[ExprId]) {
        let id = self.kernel.tensors.push(TensorParam {
            name: name.to_owned(),
            space: TensorSpace::Global,
            mutable,
            elem: ElemType::Concrete(DType::F32),
            extents: extents.to_vec(),
            edge: Edge::DefaultPad,
            span: self.kernel.span,
        });
        self.kernel.params.push(Param::Tensor(id));
    }
}

/// A configuration of one tile parameter.
fn config_of(tile: u32) -> Config {
    Config { threads: 32, ..Config::plain(vec![tile], Vec::new()) }
}

/// `matmul(a: [M, K], b: [K, N], c: &mut [M, N])`.
fn matmul() -> Kernel {
    let mut signature = Signature::new("matmul");
    let [m, k, n] = ["M", "K", "N"].map(|name| signature.dim(name));
    signature.tensor("a", false, &[m, k]);
    signature.tensor("b", false, &[k, n]);
    signature.tensor("c", true, &[m, n]);
    signature.kernel
}

/// What binding tensors of these shapes says; the last is mutable.
fn refusal<const R: usize>(kernel: &Kernel, shapes: &[[usize; R]]) -> String {
    let device = Device::cpu();
    let mut tensors: Vec<_> =
        shapes.iter().map(|shape| device.zeros::<f32, R>(*shape).unwrap()).collect();
    let (last, inputs) = tensors.split_last_mut().unwrap();
    let mut arguments: Vec<_> = inputs.iter().map(Argument::input).collect();
    arguments.push(Argument::output(last));
    bind(kernel, &[], &arguments).unwrap_err().to_string()
}

#[test]
fn a_shared_dimension_that_differs() {
    assert_eq!(
        refusal(&matmul(), &[[3, 4], [5, 6], [3, 6]]),
        "a is [3, 4], b is [5, 6]: K is 4 in a and 5 in b"
    );
    assert_eq!(
        refusal(&matmul(), &[[3, 4], [4, 6], [3, 7]]),
        "b is [4, 6], c is [3, 7]: N is 6 in b and 7 in c"
    );
}

#[test]
fn a_dimension_twice_in_one_tensor() {
    let mut signature = Signature::new("trace");
    let n = signature.dim("N");
    signature.tensor("a", true, &[n, n]);
    assert_eq!(
        refusal(&signature.kernel, &[[3, 4]]),
        "a is [3, 4]: N is 3 on axis 0 and 4 on axis 1"
    );
}

#[test]
fn extents_that_are_not_bare_dimensions() {
    let mut signature = Signature::new("conv");
    let n = signature.dim("N");
    let two = signature.int(2);
    let padded = signature.binary(BinaryOp::Add, n, two);
    let taps = signature.int(64);
    signature.tensor("x", false, &[n]);
    signature.tensor("w", false, &[taps]);
    signature.tensor("y", true, &[padded]);
    assert_eq!(
        refusal(&signature.kernel, &[[8], [65], [10]]),
        "w is [65]: axis 0 is 65, `conv` declares 64"
    );
    assert_eq!(
        refusal(&signature.kernel, &[[8], [64], [9]]),
        "y is [9]: axis 0 is 9, `conv` declares `N + 2`, which is 10 for N = 8"
    );
}

#[test]
fn extents_of_tile_sizes_wait_for_the_configuration() {
    let mut signature = Signature::new("partial");
    let n = signature.dim("N");
    let t = signature.tile("T");
    let blocks = signature.expr(ExprKind::Tiles { extent: n, tile: t });
    signature.tensor("x", false, &[n]);
    signature.tensor("sums", true, &[blocks]);
    let kernel = signature.kernel;
    let device = Device::cpu();
    let x = device.zeros::<f32, 1>([10]).unwrap();
    let mut sums = device.zeros::<f32, 1>([2]).unwrap();
    let arguments = [Argument::input(&x), Argument::output(&mut sums)];
    let bound = bind(&kernel, &[], &arguments).unwrap();
    let mut config = config_of(4);
    let error = check_extents(&kernel, &bound.tensors, &bound.dims, Some(&config)).unwrap_err();
    assert_eq!(
        error.to_string(),
        "sums is [2]: axis 0 is 2, `partial` declares `tiles(N, T)`, which is 3 for N = 10, T = 4"
    );
    config.tiles = vec![5];
    check_extents(&kernel, &bound.tensors, &bound.dims, Some(&config)).unwrap();
}

#[test]
fn tensors_of_two_devices() {
    let (one, two) = (Device::cpu(), Device::new_cpu("another CPU"));
    let a = one.zeros::<f32, 2>([2, 2]).unwrap();
    let b = two.zeros::<f32, 2>([2, 2]).unwrap();
    let mut c = one.zeros::<f32, 2>([2, 2]).unwrap();
    let arguments = [Argument::input(&a), Argument::input(&b), Argument::output(&mut c)];
    assert_eq!(
        bind(&matmul(), &[], &arguments).unwrap_err().to_string(),
        "a is on CPU, b is on another CPU: the tensors of one launch are on one device\n\
         help: make b with `tensor` or `zeros` of the device of a"
    );
}

#[test]
fn a_stream_of_another_device() {
    let (one, two) = (Device::cpu(), Device::new_cpu("another CPU"));
    let kernel = matmul();
    let options = Options::new().stream(&two.stream());
    assert_eq!(
        super::check_stream(&kernel, &one, &options).unwrap_err().to_string(),
        "the stream is of another CPU, a is on CPU\n\
         help: make the stream with `new_stream` of the tensors' device"
    );
    let options = Options::new().stream(&one.stream());
    super::check_stream(&kernel, &one, &options).unwrap();
}

#[test]
fn an_extent_that_is_no_index() {
    let mut signature = Signature::new("fill");
    let (n, m) = (signature.dim("N"), signature.dim("M"));
    signature.tensor("a", true, &[n, m]);
    assert_eq!(
        refusal(&signature.kernel, &[[0, usize::MAX]]),
        format!("a is [0, {}]: an extent of more than 2^62 cannot be indexed", usize::MAX)
    );
}

#[test]
fn configurations_of_other_kernels() {
    let mut signature = Signature::new("scale");
    let n = signature.dim("N");
    signature.tensor("x", true, &[n]);
    signature.tile("T");
    let kernel = signature.kernel;
    let cpu = Device::cpu();
    let device = cpu.properties();
    let refusal = |change: &dyn Fn(&mut Config), options: Options| {
        let mut config = config_of(4);
        change(&mut config);
        super::choose::check_given(&kernel, &config, device, &options).unwrap_err().to_string()
    };
    assert_eq!(
        refusal(&|config| config.tiles.push(1), Options::new()),
        "the configuration given is not one of `scale`: it has 2 tile sizes, the kernel has \
         1\nhelp: take one from `scale::kernel` and change that"
    );
    assert_eq!(
        refusal(&|config| config.block.push(AxisItems::strided(8)), Options::new()),
        "the configuration given is not one of `scale`: it has 1 axes of the block, the \
         kernel has 0\nhelp: take one from `scale::kernel` and change that"
    );
    assert_eq!(
        refusal(&|_| {}, Options::new().tile("T", 8)),
        "the options of `scale` give T = 8, their configuration has T = 4\n\
         help: give one of the two"
    );
    assert_eq!(
        refusal(&|_| {}, Options::new().tile("Q", 8)),
        "kernel `scale` has no tile parameter `Q`; it has `T`"
    );
    assert_eq!(
        refusal(&|config| config.tiles = vec![0], Options::new()),
        "kernel `scale`: `T = 0` is not admissible; `T` is one of 1..=4096"
    );
    super::choose::check_given(&kernel, &config_of(4), device, &Options::new().tile("T", 4))
        .unwrap();
}

#[test]
fn a_grid_beyond_the_device() {
    let error = check_blocks("add", "TN = 1", 3_000_000_000, &Device::cpu(), 2_147_483_647);
    assert_eq!(
        error.unwrap_err().to_string(),
        "`add` with TN = 1 needs 3000000000 blocks, CPU launches at most 2147483647\n\
         help: use larger tiles"
    );
}

#[test]
fn more_work_items_than_32_bits_number() {
    let check = |items, most| super::check_items("add", items, || most);
    assert!(check(1 << 31, None).is_ok());
    assert!(check((1 << 31) - 1, Some(i32::MAX as u64)).is_ok());
    let error = check(1 << 31, Some(i32::MAX as u64)).unwrap_err().to_string();
    assert!(error.starts_with("this launch of `add` has 2147483648 work-items"), "{error}");
}

#[test]
fn index_widths_and_divisors() {
    let kernel = matmul();
    let width = |values: [usize; 3], max_elems| {
        let dims = super::bind::Dims::of_values(&kernel, &values);
        binding_of_elems(&[], &dims, max_elems, Vec::new()).index_width
    };
    assert_eq!(width([1 << 30, 1, 1], (1 << 31) - 1), IndexWidth::Bits32);
    assert_eq!(width([(1 << 30) + 1, 1, 1], 1), IndexWidth::Bits64);
    assert_eq!(width([1 << 16, 1 << 15, 1], 1 << 31), IndexWidth::Bits64);
    let dims = super::bind::Dims::of_values(&kernel, &[4095, 96, 0]);
    assert_eq!(binding_of_elems(&[], &dims, 1, Vec::new()).dim_divisors, [1, 32, 256]);
}
