//! Reports: texts, and what the numbers say should be changed.

use expect_test::{Expect, expect};
use tile_ir::check::CheckedKernel;
use tile_ir::config::{Config, default_config};
use tile_ir::device::known;
use tile_ir::dtype::DType;
use tile_ir::explain::count::Limits;
use tile_ir::explain::report::Report;
use tile_ir::explain::{Question, Rule, explain, findings};
use tile_ir::kernel::VarKind;

use crate::kernels::{ADD, MATMUL, NAIVE, ROWS, STENCIL, TREE, TRIANGLE, WINDOW};
use crate::support::{checked, textbook};

fn report(text: &str, config: &Config, dims: &[u64]) -> Report {
    let kernel = checked(text);
    let types = vec![DType::F32; kernel.kernel().type_params.len()];
    let question = Question {
        kernel: &kernel,
        types: &types,
        dims,
        scalars: &[],
        device: &known("A100").unwrap(),
        config,
        registers: Some(32),
        limits: Limits::default(),
        rules: &Rule::ALL,
    };
    explain(&question).unwrap_or_else(|error| panic!("{error}"))
}

#[track_caller]
fn check(report: &Report, expect: &Expect) {
    let text = report.to_string();
    assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
    expect.assert_eq(&text);
}

#[test]
fn of_the_textbooks_product() {
    let report = report(MATMUL, &textbook(&[16, 16, 16], &[16, 16]), &[1024, 1024, 1024]);
    check(
        &report,
        &expect![[r#"
            matmul<f32> on NVIDIA A100-SXM4-40GB: M = 1024, K = 1024, N = 1024
                TM = 16, TN = 16, TK = 16; 64 x 64 = 4096 blocks of 256 threads, 4.74 fillings of the SMs

            roofline
                arithmetic       2.15 GFLOP at  19.5 TFLOP/s      110 µs
                DRAM                12.6 MB at     1.55 TB/s     8.09 µs   171 FLOP/B
                L2                   541 MB at     7.22 TB/s     74.9 µs   3.97 FLOP/B
                shared memory       9.13 GB at     19.5 TB/s      468 µs   0.235 FLOP/B
                compute-bound: no faster than 110 µs, by arithmetic; expected 744 µs

            global memory, as the kernel is written
                the tile a_s of a: 16 reads of an element for each that fills it
                the tile b_s of b: 16 reads of an element for each that fills it
                work-items write 4.19 MB and read 537 MB: 4 FLOP/B; without the tiles 8.59 GB: 0.25 FLOP/B, 16
                times as much

            occupancy
                8 blocks and 64 warps of an SM, 100 %; limited by threads per SM
                32 registers a thread, 2048 bytes of shared memory a block
                1 register a thread more: 6 blocks
                17921 bytes of shared memory a block more: 7 blocks

            accesses                                                    a warp's request takes
                 line                           width  requests      bytes   sectors (least) wavefr. (least)
                   13 reads a                       1     2.1 M     268 MB             4 (4)
                   13 writes a_s                    1     2.1 M     268 MB                             1 (1)
                   14 reads b                       1     2.1 M     268 MB             4 (4)
                   14 writes b_s                    1     2.1 M     268 MB                             1 (1)
                   17 reads a_s                     1    33.6 M    4.29 GB                             1 (1)
                   17 reads b_s                     1    33.6 M    4.29 GB                             1 (1)
                   21 writes c                      1    32.8 k    4.19 MB             4 (4)

            findings
                none
        "#]],
    );
}

#[test]
fn of_an_addition() {
    check(
        &report(ADD, &textbook(&[256], &[256]), &[1 << 24]),
        &expect![[r#"
        add<f32> on NVIDIA A100-SXM4-40GB: N = 16777216
            TN = 256; 65536 blocks of 256 threads, 75.9 fillings of the SMs

        roofline
            arithmetic       16.8 MFLOP at  19.5 TFLOP/s      861 ns
            DRAM                 201 MB at     1.55 TB/s      129 µs   0.0833 FLOP/B
            L2                   201 MB at     7.22 TB/s     27.9 µs   0.0833 FLOP/B
            memory-bound: no faster than 129 µs, by DRAM; expected 145 µs

        global memory, as the kernel is written
            work-items write 67.1 MB and read 134 MB: 0.125 FLOP/B

        occupancy
            8 blocks and 64 warps of an SM, 100 %; limited by threads per SM
            32 registers a thread, 0 bytes of shared memory a block
            1 register a thread more: 6 blocks
            19969 bytes of shared memory a block more: 7 blocks

        accesses                                                    a warp's request takes
             line                           width  requests      bytes   sectors (least) wavefr. (least)
                6 reads a                       1     524 k    67.1 MB             4 (4)
                6 reads b                       1     524 k    67.1 MB             4 (4)
                6 writes c                      1     524 k    67.1 MB             4 (4)

        findings
            none
    "#]],
    );
}

#[test]
fn of_sums_of_rows() {
    let report = report(ROWS, &textbook(&[64], &[64]), &[4096, 4096]);
    let rules: Vec<Rule> = report.findings.iter().map(|finding| finding.rule).collect();
    assert_eq!(rules, [Rule::Uncoalesced, Rule::IdleSms]);
}

#[test]
fn of_a_divergent_tree() {
    let report = report(TREE, &textbook(&[64], &[64]), &[1 << 20]);
    let found = report.findings.iter().find(|finding| finding.rule == Rule::DivergentWarps);
    let found = found.unwrap_or_else(|| panic!("{report}"));
    assert_eq!(found.message, "92 % of the warps that come here split");
}

/// What is denied at compile time is found with less counted than a report shows.
#[test]
fn findings_alone_are_those_of_the_report() {
    let mut found = 0;
    for text in [ADD, MATMUL, NAIVE, ROWS, STENCIL, TREE, TRIANGLE, WINDOW] {
        let kernel = checked(text);
        let types = vec![DType::F32; kernel.kernel().type_params.len()];
        let dims = vec![1000; n_dims(&kernel)];
        let device = known("H200").unwrap();
        let config = default_config(&kernel, &types, &device, &dims).unwrap();
        for rule in Rule::ALL {
            let question = Question {
                kernel: &kernel,
                types: &types,
                dims: &dims,
                scalars: &[],
                device: &device,
                config: &config,
                registers: None,
                limits: Limits::default(),
                rules: &[rule],
            };
            let alone = findings(&question).unwrap();
            assert_eq!(alone, explain(&question).unwrap().findings, "{text} {rule:?}");
            found += alone.len();
        }
    }
    assert!(found > 0, "nothing was found");
}

fn n_dims(kernel: &CheckedKernel) -> usize {
    kernel.kernel().vars.values().filter(|var| var.kind == VarKind::Dim).count()
}
