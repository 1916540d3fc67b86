//! Views as arguments: what a program is specialised on, and along which axis its
//! cooperative loops run.

use tile_ir::lower::{Binding, StrideFact, TensorLayout, lower};
use tile_ir::program::{ArgSource, ExprKind, IndexWidth, Program, Target, verify_program};

use crate::support::{Case, device, matmul, n_dims};

/// The program for launches whose first tensor lies so.
fn program(case: &Case, first: Vec<StrideFact>) -> Program {
    let checked = case.checked();
    let mut layouts = vec![TensorLayout::RowMajor; checked.kernel().tensors.len()];
    layouts[0] = TensorLayout::Strided(first);
    let binding = Binding {
        types: vec![case.dtype],
        index_width: IndexWidth::Bits32,
        dim_divisors: vec![64; n_dims(&checked)],
        layouts,
    };
    let program = lower(&checked, &binding, &case.config(&checked), &device());
    let program = program.unwrap_or_else(|error| panic!("{error}"));
    if let Err(faults) = verify_program(&program) {
        panic!("{faults:?}");
    }
    program
}

/// Widths of the loads of the first tensor, and the axes of their loops along which
/// a thread has neighbours.
fn loads(program: &Program) -> Vec<(u8, Option<u32>)> {
    let kernel = &program.kernels[0];
    let first = kernel.buffers.ids().next().unwrap();
    let accesses = kernel.exprs.values().filter_map(|expr| match &expr.kind {
        ExprKind::Load(access) if access.target == Target::Buffer(first) => Some(access),
        _ => None,
    });
    let domain_of = |access: &tile_ir::program::Access| {
        let mut found = None;
        let mut open = access.indices.clone();
        while let Some(id) = open.pop() {
            if let ExprKind::Coord { domain, .. } = kernel.exprs[id].kind {
                found = Some(domain);
            }
            kernel.exprs[id].kind.for_each_operand(&mut |operand| open.push(operand));
        }
        found
    };
    accesses
        .map(|access| {
            let layout = domain_of(access).map(|domain| &kernel.domains[domain].layout);
            let run = layout.and_then(|layout| layout.registers.first());
            (access.width, run.filter(|digit| digit.stride == 1).map(|digit| digit.axis))
        })
        .collect()
}

fn wide() -> Case {
    Case { copy_bytes: 16, stages: 1, divisor: 64, ..matmul() }
}

#[test]
fn loads_run_along_the_axis_without_gaps() {
    let any = StrideFact::Any { divisor: 64 };
    let turned = loads(&program(&wide(), vec![StrideFact::One, any]));
    assert!(!turned.is_empty());
    assert!(turned.iter().all(|load| *load == (4, Some(0))), "{turned:?}");
    let plain = loads(&program(&wide(), vec![any, StrideFact::One]));
    assert!(plain.iter().all(|load| *load == (4, Some(1))), "{plain:?}");
}

#[test]
fn what_is_not_aligned_is_read_one_by_one() {
    let any = |divisor| StrideFact::Any { divisor };
    for facts in
        [vec![any(1), any(1)], vec![StrideFact::One, any(2)], vec![any(1), StrideFact::One]]
    {
        let found = loads(&program(&wide(), facts.clone()));
        let widest = if facts.contains(&any(2)) { 2 } else { 1 };
        assert!(found.iter().all(|(width, _)| *width <= widest), "{facts:?}: {found:?}");
    }
}

#[test]
fn strides_are_numbers_or_arguments() {
    let units = |facts: Vec<StrideFact>| -> Vec<(u32, u32)> {
        let program = program(&wide(), facts);
        let args = program.kernels[0].args.values();
        args.filter_map(|arg| match arg.source {
            ArgSource::Stride { axis, unit, .. } => Some((axis, unit)),
            ArgSource::Dim(_) | ArgSource::Scalar(_) => None,
        })
        .collect()
    };
    assert_eq!(units(vec![StrideFact::One, StrideFact::Any { divisor: 16 }]), [(1, 16)]);
    assert_eq!(units(vec![StrideFact::Zero, StrideFact::One]), []);
    let both = vec![StrideFact::Any { divisor: 1 }, StrideFact::Any { divisor: 4 }];
    assert_eq!(units(both), [(0, 1), (1, 4)]);
}
