//! What `gpu` tests and measures on a machine with a GPU, in small on the CPU.

use std::process::Command;

#[test]
fn all_is_well_on_the_cpu() {
    let mut command = Command::new(env!("CARGO_BIN_EXE_gpu"));
    let output = command.args(["--device", "cpu", "--quick"]).output().expect("it runs");
    let said =
        [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    assert!(output.status.success(), "{}\n{}", output.status, said.concat());
}
