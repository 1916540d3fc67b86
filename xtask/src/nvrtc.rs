//! Finds NVRTC for the tests, and fetches it where there is none.
//!
//! NVRTC compiles CUDA C++ without a GPU and without a CUDA toolkit. Where the
//! machine has none, the wheel that NVIDIA publishes on PyPI is fetched once,
//! by version and hash, into `.nvrtc/` at the workspace's root: outside
//! `target/`, so that `cargo clean` keeps it, and ignored by git, since its
//! licence does not allow us to pass it on.

use std::fs::{self, File};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use sha2::{Digest as _, Sha256};

/// Where the runtime looks for NVRTC before anywhere else: a folder.
pub(crate) const VARIABLE: &str = "TILE_NVRTC";

/// Tells the tests that they may pass over what needs NVRTC.
pub(crate) const WITHOUT_VARIABLE: &str = "TILE_TEST_WITHOUT_NVRTC";

const VERSION: &str = "13.0.88";

/// A wheel, as PyPI publishes it.
struct Wheel {
    url: &'static str,
    file: &'static str,
    sha256: &'static str,
}

const X86_64: Wheel = Wheel {
    url: "https://files.pythonhosted.org/packages/c3/68/\
          483a78f5e8f31b08fb1bb671559968c0ca3a065ac7acabfc7cee55214fd6/",
    file: "nvidia_cuda_nvrtc-13.0.88-py3-none-manylinux2010_x86_64.manylinux_2_12_x86_64.whl",
    sha256: "ad9b6d2ead2435f11cbb6868809d2adeeee302e9bb94bcf0539c7a40d80e8575",
};

const AARCH64: Wheel = Wheel {
    url: "https://files.pythonhosted.org/packages/b7/dc/\
          6bb80850e0b7edd6588d560758f17e0550893a1feaf436807d64d2da040f/",
    file: "nvidia_cuda_nvrtc-13.0.88-py3-none-manylinux2014_aarch64.manylinux_2_17_aarch64.whl",
    sha256: "d27f20a0ca67a4bb34268a5e951033496c5b74870b868bacd046b1b8e0c3267b",
};

/// Libraries of the wheel that are needed, in its folder [`LIBRARY_FOLDER`].
/// Its `.alt` copies, for old systems, are left out.
const LIBRARIES: [&str; 2] = ["libnvrtc.so.13", "libnvrtc-builtins.so.13.0"];

const LIBRARY_FOLDER: &str = "nvidia/cu13/lib";

/// Written last, so that a folder without it is known to be incomplete.
const MARKER: &str = "complete";

/// What a command asks about NVRTC.
#[derive(clap::Args)]
pub(crate) struct NvrtcArguments {
    /// Skips, aloud, the tests that compile with NVRTC.
    #[arg(long)]
    pub(crate) without_nvrtc: bool,
}

/// Where the tests get NVRTC from.
pub(crate) enum Source {
    /// The environment variable names this folder or file.
    Variable(PathBuf),
    /// A library of a CUDA toolkit or of the system.
    System(PathBuf),
    /// The wheel, unpacked in this folder.
    Wheel(PathBuf),
    /// Nowhere, by the user's wish.
    Without,
}

impl Source {
    /// Says it to a command that runs tests.
    pub(crate) fn tell(&self, command: &mut Command) {
        match self {
            Self::Variable(path) | Self::System(path) | Self::Wheel(path) => {
                command.env(VARIABLE, path)
            }
            Self::Without => command.env(WITHOUT_VARIABLE, "1"),
        };
    }

    /// One line for the user.
    pub(crate) fn describe(&self) -> String {
        match self {
            Self::Variable(path) => format!("NVRTC of {VARIABLE}: {}", path.display()),
            Self::System(path) => format!("NVRTC of the system: {}", path.display()),
            Self::Wheel(path) => format!("NVRTC {VERSION} of PyPI: {}", path.display()),
            Self::Without => "WITHOUT NVRTC: no test compiles CUDA C++".to_owned(),
        }
    }
}

/// Why there is no NVRTC.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    #[error("{VARIABLE} is `{0}`, which does not exist")]
    BadVariable(PathBuf),
    #[error(
        "there is no NVRTC here, and none to fetch for {os} on {arch}: \
         set {VARIABLE} to the folder of your CUDA toolkit that holds the NVRTC library, \
         or pass --without-nvrtc to skip the tests that need it",
        os = std::env::consts::OS, arch = std::env::consts::ARCH
    )]
    Platform,
    #[error(
        "there is no NVRTC here, and its wheel cannot be fetched\n  by HTTP: {http}\n  by pip: {pip}\n\
         help: on a machine without a network, set {VARIABLE} to a folder that holds \
         `libnvrtc.so.13` (the CUDA toolkit's lib64, or `nvidia/cu13/lib` of the unpacked wheel \
         nvidia-cuda-nvrtc {VERSION}), or pass --without-nvrtc to skip the tests that need it"
    )]
    Fetch { http: String, pip: String },
    #[error("the fetched wheel has SHA-256 {found}, not {wanted}")]
    Hash { found: String, wanted: &'static str },
    #[error("cannot unpack the wheel: {0}")]
    Unpack(#[from] zip::result::ZipError),
    #[error("cannot write `{path}`: {source}")]
    Io { path: PathBuf, source: io::Error },
}

/// Finds NVRTC, or fetches it.
pub(crate) fn provide(arguments: &NvrtcArguments) -> Result<Source, Error> {
    if arguments.without_nvrtc {
        return Ok(Source::Without);
    }
    if let Some(path) = std::env::var_os(VARIABLE).filter(|value| !value.is_empty()) {
        let path = PathBuf::from(path);
        return if path.exists() {
            Ok(Source::Variable(path))
        } else {
            Err(Error::BadVariable(path))
        };
    }
    let home = crate::root().join(".nvrtc").join(VERSION);
    let libraries = home.join(LIBRARY_FOLDER);
    if home.join(MARKER).exists() {
        return Ok(Source::Wheel(libraries));
    }
    if let Some(path) = system_library() {
        return Ok(Source::System(path));
    }
    let wheel = match (std::env::consts::OS, std::env::consts::ARCH) {
        ("linux", "x86_64") => X86_64,
        ("linux", "aarch64") => AARCH64,
        _ => return Err(Error::Platform),
    };
    eprintln!("fetching NVRTC {VERSION} (90 MB) into {}", home.display());
    let bytes = fetch(&wheel)?;
    unpack(&bytes, &libraries)?;
    write(&home.join(MARKER), wheel.sha256.as_bytes())?;
    Ok(Source::Wheel(libraries))
}

/// The NVRTC of an installed CUDA 13 toolkit. An older one is passed over: it
/// does not know all architectures that the tests compile for.
fn system_library() -> Option<PathBuf> {
    let toolkits = ["CUDA_HOME", "CUDA_PATH"].into_iter().filter_map(std::env::var_os);
    let toolkits = toolkits.map(PathBuf::from).chain([PathBuf::from("/usr/local/cuda")]);
    let inside = toolkits.map(|toolkit| toolkit.join("lib64"));
    let system = ["/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib64"];
    let searched = std::env::var_os("LD_LIBRARY_PATH").unwrap_or_default();
    let folders = std::env::split_paths(&searched).chain(inside).chain(system.map(PathBuf::from));
    folders.map(|folder| folder.join(LIBRARIES[0])).find(|library| library.exists())
}

/// The wheel's bytes, with the right hash: over HTTP from PyPI's file host, or
/// by way of pip, which knows of mirrors.
fn fetch(wheel: &Wheel) -> Result<Vec<u8>, Error> {
    let http = match fetch_by_http(wheel) {
        Ok(bytes) => return verified(bytes, wheel),
        Err(error) => error.to_string(),
    };
    match fetch_by_pip(wheel) {
        Ok(bytes) => verified(bytes, wheel),
        Err(pip) => Err(Error::Fetch { http, pip }),
    }
}

fn fetch_by_http(wheel: &Wheel) -> Result<Vec<u8>, ureq::Error> {
    let roots = ureq::tls::RootCerts::PlatformVerifier;
    let config = ureq::Agent::config_builder()
        .tls_config(ureq::tls::TlsConfig::builder().root_certs(roots).build())
        .timeout_connect(Some(Duration::from_secs(20)))
        .timeout_global(Some(Duration::from_secs(600)))
        .build();
    let url = format!("{}{}", wheel.url, wheel.file);
    let mut response = ureq::Agent::new_with_config(config).get(&url).call()?;
    let mut bytes = Vec::new();
    response.body_mut().as_reader().read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn fetch_by_pip(wheel: &Wheel) -> Result<Vec<u8>, String> {
    let folder = crate::root().join(".nvrtc").join("pip");
    let bytes = download_by_pip(wheel, &folder);
    // A pip that failed may not have made it.
    match fs::remove_dir_all(&folder) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error.to_string()),
        _ => bytes,
    }
}

fn download_by_pip(wheel: &Wheel, folder: &Path) -> Result<Vec<u8>, String> {
    let pip = Command::new("python3")
        .args(["-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:", "--dest"])
        .arg(folder)
        .arg(format!("nvidia-cuda-nvrtc=={VERSION}"))
        .stdin(Stdio::null())
        .output()
        .map_err(|error| format!("cannot run python3: {error}"))?;
    if !pip.status.success() {
        let text = String::from_utf8_lossy(&pip.stderr);
        return Err(text.trim().lines().last().unwrap_or("pip failed").to_owned());
    }
    fs::read(folder.join(wheel.file)).map_err(|error| error.to_string())
}

fn verified(bytes: Vec<u8>, wheel: &Wheel) -> Result<Vec<u8>, Error> {
    let digest = Sha256::digest(&bytes);
    let found: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
    if found == wheel.sha256 { Ok(bytes) } else { Err(Error::Hash { found, wanted: wheel.sha256 }) }
}

/// Writes the wheel's libraries into `folder`.
fn unpack(wheel: &[u8], folder: &Path) -> Result<(), Error> {
    fs::create_dir_all(folder).map_err(|source| Error::Io { path: folder.to_owned(), source })?;
    let mut archive = zip::ZipArchive::new(io::Cursor::new(wheel))?;
    for name in LIBRARIES {
        let mut library = archive.by_name(&format!("{LIBRARY_FOLDER}/{name}"))?;
        let path = folder.join(name);
        let copied = File::create(&path).and_then(|mut file| io::copy(&mut library, &mut file));
        copied.map_err(|source| Error::Io { path, source })?;
    }
    Ok(())
}

fn write(path: &Path, bytes: &[u8]) -> Result<(), Error> {
    let written = File::create(path).and_then(|mut file| file.write_all(bytes));
    written.map_err(|source| Error::Io { path: path.to_owned(), source })
}
