//! rustc on a case, with the `tile_runtime` that cargo built for these tests: nothing is
//! built a second time for them.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The version whose texts the `.stderr` files are.
pub(crate) const VERSION: &str = "1.95";

/// What cargo was told to test, where that is more than this package: with other packages
/// the dependencies have other features.
const PACKAGES: &str = "TILE_TEST_PACKAGES";

/// A compiler of cases.
pub(crate) struct Rustc {
    program: String,
    /// The compiled `tile_runtime`.
    library: PathBuf,
}

impl Rustc {
    /// What rustc says of itself.
    pub(crate) fn version() -> String {
        let output = Command::new(program()).arg("--version").output().unwrap();
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    }

    /// Asks cargo for what cases are compiled with.
    pub(crate) fn new() -> Self {
        Self { program: program(), library: library() }
    }

    /// What is said of a case, whose path is from the workspace's folder: what is ours is
    /// found from there and quoted.
    pub(crate) fn messages(&self, case: &Path) -> String {
        let mut command = Command::new(&self.program);
        command.current_dir(workspace());
        command.args(["--edition=2024", "--crate-type=bin", "--crate-name=case"]);
        // As `cargo check` does; where nothing is to be found, nothing is written.
        command.args(["--emit=metadata", "-o", "-", "-Adead_code"]);
        command.args(["--color=never", "--diagnostic-width=140", "--verbose"]);
        let mut named = OsStr::new("tile_runtime=").to_owned();
        named.push(&self.library);
        command.arg("--extern").arg(named);
        let mut folder = OsStr::new("dependency=").to_owned();
        folder.push(self.library.parent().unwrap());
        command.arg("-L").arg(folder);
        let output = command.arg(case).stdout(Stdio::null()).output().unwrap();
        String::from_utf8(output.stderr).unwrap()
    }
}

/// The workspace's folder.
pub(crate) fn workspace() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap()
}

fn program() -> String {
    std::env::var("RUSTC").unwrap_or_else(|_| "rustc".to_owned())
}

/// The `tile_runtime` of this run: cargo says where it lies, and has built it before.
fn library() -> PathBuf {
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned());
    let packages = std::env::var(PACKAGES).ok();
    let packages = packages.as_deref().unwrap_or("--package tile-tests");
    let mut command = Command::new(cargo);
    command.current_dir(workspace());
    command.args(["test", "--no-run", "--locked", "--message-format=json"]);
    let output = command.args(packages.split_whitespace()).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let messages = String::from_utf8(output.stdout).unwrap();
    messages.lines().find_map(library_of).expect("tile_runtime is among what was built")
}

/// The library in one of cargo's messages.
fn library_of(message: &str) -> Option<PathBuf> {
    let message: serde_json::Value = serde_json::from_str(message).unwrap();
    let is_ours = message["target"]["name"] == "tile_runtime";
    let files = message["filenames"].as_array().filter(|_| is_ours)?;
    let mut files = files.iter().filter_map(serde_json::Value::as_str);
    files.find(|file| file.ends_with(".rlib")).map(PathBuf::from)
}
