//! What is said where driver or NVRTC are missing or broken: each case in a
//! process of its own, with libraries made for it.
#![cfg(all(feature = "cuda", target_os = "linux"))]
#![expect(clippy::print_stdout, reason = "the child process answers on its standard output")]

use std::path::{Path, PathBuf};
use std::process::Command;

/// Tells a child process what to try.
const TASK: &str = "TILE_ENVIRONMENT_TASK";
/// The names under which the driver is looked for.
const DRIVER_NAMES: [&str; 7] = [
    "libcuda.so",
    "libcuda.so.13",
    "libcuda.so.12",
    "libcuda.so.11",
    "libcuda.so.10",
    "libcuda.so.9",
    "libcuda.so.1",
];

/// Not a test of its own: the body of the child processes, which prints what it
/// was told. Without a task there is nothing to do.
#[test]
fn child() {
    let Some(task) = std::env::var_os(TASK) else { return };
    let text = match task.to_str() {
        Some("cuda") => tile_runtime::Device::cuda(0).map(|device| device.to_string()),
        Some("best") => tile_runtime::Device::best().map(|device| device.to_string()),
        Some("all") => Ok(format!("{:?}", tile_runtime::Device::all())),
        Some("diagnose") => Ok(tile_runtime::diagnose().to_string()),
        Some("nvrtc") => tile_runtime::nvrtc::find().map(|nvrtc| format!("{nvrtc:?}")),
        other => panic!("unknown task {other:?}"),
    };
    let text = text.unwrap_or_else(|error| format!("error: {error}"));
    println!("<<{text}>>");
}

/// A folder for one test, empty.
fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("environment").join(name);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

/// What a child process prints that has `folder` first on its library path.
fn ask(task: &str, folder: &Path, variables: &[(&str, &Path)]) -> String {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "child", "--nocapture"]);
    command.env(TASK, task).env("LD_LIBRARY_PATH", folder).env_remove("TILE_NVRTC");
    for (name, value) in variables {
        command.env(name, value);
    }
    let output = command.output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{text}\n{errors}");
    let start = text.find("<<").unwrap_or_else(|| panic!("no answer: {text}\n{errors}"));
    let end = text.rfind(">>").unwrap();
    text[start + 2..end].to_owned()
}

/// Hides the machine's own driver: files of its names that are no libraries.
fn no_driver(name: &str) -> PathBuf {
    let folder = folder(name);
    for name in DRIVER_NAMES {
        std::fs::write(folder.join(name), "not a library").unwrap();
    }
    folder
}

/// A driver of this C text, under the name that is tried first.
fn driver(name: &str, text: &str) -> PathBuf {
    let folder = folder(name);
    let source = folder.join("driver.c");
    std::fs::write(&source, text).unwrap();
    let library = folder.join(DRIVER_NAMES[0]);
    let compiled =
        Command::new("cc").args(["-shared", "-fPIC", "-o"]).arg(library).arg(source).status();
    assert!(compiled.expect("rustc links with `cc` too").success());
    folder
}

#[test]
fn without_a_driver() {
    let folder = no_driver("without_a_driver");
    assert_eq!(
        ask("cuda", &folder, &[]),
        "error: no NVIDIA driver: libcuda.so.1 cannot be loaded\n\
         help: install the NVIDIA driver (in a container, start it with the GPU: \
         `docker run --gpus all`); without a GPU, use `Device::cpu()` or `Device::best()`"
    );
    assert_eq!(ask("best", &folder, &[]), "CPU");
    assert_eq!(ask("all", &folder, &[]), "[Device(\"CPU\")]");
    let report = ask("diagnose", &folder, &[]);
    assert!(report.starts_with("driver   none\n"), "{report}");
    assert!(report.contains("missing  no NVIDIA driver: libcuda.so.1 cannot be loaded\n"));
    assert!(report.contains("         -> install the NVIDIA driver"), "{report}");
}

#[test]
fn a_driver_without_devices() {
    let folder = driver("without_devices", "int cuInit(unsigned flags) { return 100; }");
    let text = ask("cuda", &folder, &[]);
    assert_eq!(
        text,
        "error: the NVIDIA driver finds no CUDA device\n\
         help: see whether `nvidia-smi` lists one, whether CUDA_VISIBLE_DEVICES hides it, and, in a \
         container, whether it was started with the GPU; without a GPU, use `Device::cpu()`"
    );
    assert_eq!(ask("best", &folder, &[]), "CPU");
    let report = ask("diagnose", &folder, &[]);
    assert!(report.contains("missing  the NVIDIA driver finds no CUDA device\n"), "{report}");
}

#[test]
fn the_toolkits_stub_of_a_driver() {
    let folder = driver("stub", "int cuInit(unsigned flags) { return 34; }");
    let text = ask("cuda", &folder, &[]);
    let start = "error: no NVIDIA driver: libcuda.so is the CUDA toolkit's stub, not the driver";
    assert!(text.starts_with(start), "{text}");
    assert_eq!(ask("best", &folder, &[]), "CPU");
}

#[test]
fn a_driver_that_does_not_start() {
    let folder = driver("mismatch", "int cuInit(unsigned flags) { return 803; }");
    let text = "error: the NVIDIA driver does not start: cuInit returns 803 \
                (library and kernel module are of different versions)\n\
                help: reboot, or reinstall the driver: it was updated while in use";
    assert_eq!(ask("cuda", &folder, &[]), text);
    assert_eq!(ask("best", &folder, &[]), text, "a broken GPU is not passed over in silence");
    assert_eq!(ask("all", &folder, &[]), "[Device(\"CPU\")]");
}

#[test]
fn a_driver_of_another_age() {
    let folder = driver("ancient", "int cuNothing(void) { return 0; }");
    let text = ask("cuda", &folder, &[]);
    let start = "error: the NVIDIA driver is too old: libcuda.so has no `cuInit`\nhelp: install";
    assert!(text.starts_with(start), "{text}");
    let folder = driver(
        "old",
        "int cuInit(unsigned flags) { return 0; }\n\
         int cuDriverGetVersion(int *version) { *version = 11040; return 0; }\n\
         int cuDeviceGetCount(int *count) { *count = 1; return 0; }",
    );
    let text = ask("cuda", &folder, &[]);
    let start = "error: the NVIDIA driver is too old: libcuda.so has no `cuDeviceGet`\n";
    assert!(text.starts_with(start), "{text}");
    let report = ask("diagnose", &folder, &[]);
    assert!(report.starts_with("driver   libcuda.so, serves CUDA up to 11.4\n"), "{report}");
}

#[test]
fn a_variable_that_names_no_nvrtc() {
    let folder = no_driver("bad_variable");
    let nowhere = folder.join("nowhere");
    let help = "help: set it to libnvrtc.so or to the folder that holds it, or unset it";
    assert_eq!(
        ask("nvrtc", &folder, &[("TILE_NVRTC", &nowhere)]),
        format!(
            "error: TILE_NVRTC is `{}`: there is no such file or folder\n{help}",
            nowhere.display()
        )
    );
    let empty = folder.join("empty");
    std::fs::create_dir(&empty).unwrap();
    assert_eq!(
        ask("nvrtc", &folder, &[("TILE_NVRTC", &empty)]),
        format!("error: TILE_NVRTC is `{}`: the folder holds no libnvrtc\n{help}", empty.display())
    );
    let broken = folder.join("libnvrtc.so");
    std::fs::write(&broken, "not a library").unwrap();
    let text = ask("nvrtc", &folder, &[("TILE_NVRTC", &broken)]);
    assert!(text.contains("invalid ELF header") || text.contains("file too short"), "{text}");
    assert!(text.ends_with(help), "{text}");
    let other = driver("other_library", "int cuInit(unsigned flags) { return 0; }");
    let text = ask("nvrtc", &folder, &[("TILE_NVRTC", &other.join(DRIVER_NAMES[0]))]);
    assert!(
        text.contains("it has no `nvrtcCreateProgram`: it is not NVRTC 11.2 or newer"),
        "{text}"
    );
}

#[test]
fn a_diagnosis_tells_a_bad_variable() {
    let folder = no_driver("diagnosis");
    let report = ask("diagnose", &folder, &[("TILE_NVRTC", Path::new("/nowhere"))]);
    let line =
        "missing  TILE_NVRTC is `/nowhere`: there is no such file or folder\n         -> set it";
    assert!(report.contains("NVRTC    none\n") && report.contains(line), "{report}");
}
