//! One compilation: text in, image and report out.

use std::ffi::{CString, c_char, c_int};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::{Arc, LazyLock};
use std::time::Instant;

use serde::{Deserialize, Serialize};

use super::identity::identity;
use super::library::{Nvrtc, RawProgram, RawResult, check};
use super::report::{CompileReport, parse};
use crate::cache::{CodeCache, code_store, kernel_key};
use crate::error::{EnvironmentError, Error, Result};

/// The name that NVRTC's messages give to text without `#line`.
const FILE_NAME: &std::ffi::CStr = c"kernel.cu";

/// How to compile, beside what every kernel is compiled with.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CompileOptions {
    /// Compiles as fast as can be, for code that is not run or not timed:
    /// kernels are then two times slower or worse (`--Ofast-compile=max`).
    pub fast: bool,
    /// More options of NVRTC, as its documentation spells them.
    pub extra: Vec<String>,
}

/// What a kernel is compiled to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cubin {
    /// What the driver loads.
    pub image: Image,
    /// The architecture that it was compiled for, e.g. `sm_90`.
    pub architecture: String,
    /// Time and resources.
    pub report: CompileReport,
    /// All that NVRTC said.
    pub log: String,
}

/// What the driver loads.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Image {
    /// Machine code of one architecture.
    Cubin(Vec<u8>),
    /// Code that the driver assembles for its device: where the device is newer
    /// than NVRTC.
    Ptx(String),
}

impl Nvrtc {
    /// Compiles CUDA C++ for an architecture: machine code for `sm_90` and its
    /// like, PTX for `compute_90` and its like.
    ///
    /// # Errors
    ///
    /// Where NVRTC does not know the architecture, fails, or refuses the text.
    pub fn compile(
        &self,
        source: &str,
        architecture: &str,
        options: &CompileOptions,
    ) -> Result<Cubin> {
        self.check_architecture(architecture)?;
        let start = Instant::now();
        let arguments = arguments(architecture, options);
        let program = Program::create(self, source)?;
        let outcome = program.compile(&arguments);
        let log = program.log()?;
        if let Err(code) = outcome {
            let reason = self.failure("nvrtcCompileProgram", code).to_string();
            return Err(refusal(source, &arguments, &reason, &log));
        }
        let api = &self.api;
        let image = if architecture.starts_with("compute_") {
            let bytes = program.bytes("nvrtcGetPTX", api.ptx_size, api.ptx)?;
            Image::Ptx(text(bytes))
        } else {
            Image::Cubin(program.bytes("nvrtcGetCUBIN", api.cubin_size, api.cubin)?)
        };
        let milliseconds = u64::try_from(start.elapsed().as_millis()).unwrap_or(u64::MAX);
        let report = CompileReport { milliseconds, kernels: parse(&log) };
        Ok(Cubin { image, architecture: architecture.to_owned(), report, log })
    }

    fn check_architecture(&self, architecture: &str) -> Result<()> {
        let digits: String = architecture.chars().filter(char::is_ascii_digit).collect();
        let known = self.architectures();
        if known.contains(&format!("sm_{digits}")) {
            return Ok(());
        }
        let oldest = known.first().and_then(|name| name.strip_prefix("sm_")?.parse::<u32>().ok());
        let too_old = digits.parse::<u32>().ok() < oldest;
        let (major, minor) = self.version();
        Err(EnvironmentError::Architecture {
            version: format!("{major}.{minor}"),
            path: self.path().to_owned(),
            architecture: architecture.to_owned(),
            known: known.join(", "),
            help: if too_old {
                "CUDA 13 has dropped devices before sm_75: use NVRTC 12 \
                 (`pip install nvidia-cuda-nvrtc-cu12`) and set TILE_NVRTC to its folder"
            } else {
                "use a newer NVRTC, and set TILE_NVRTC to its folder"
            },
        }
        .into())
    }
}

/// Compiled kernels of this process.
static CODE: LazyLock<CodeCache> = LazyLock::new(CodeCache::default);

/// Machine code of a text for devices of this compute capability (90 for 9.0), which
/// is compiled where neither this process nor an earlier one of this user has done so.
///
/// # Errors
///
/// As [`Nvrtc::compile`], and where there is no NVRTC.
pub(crate) fn compile_once(
    source: &str,
    capability: u32,
    options: &CompileOptions,
) -> Result<Arc<Cubin>> {
    if let Some(known) = compiled(source, capability, options)? {
        return Ok(known);
    }
    let nvrtc = super::find()?;
    // Loaded now: it is known for certain which it is.
    let identity = nvrtc.identity();
    let architecture = identity.architecture(capability);
    let key = kernel_key(source, &arguments(&architecture, options), identity.version);
    CODE.get(code_store(), key, || {
        let cubin = nvrtc.compile(source, &architecture, options)?;
        tracing::debug!(
            ms = cubin.report.milliseconds,
            kernels = ?cubin.report.kernels,
            "compiled"
        );
        Ok(cubin)
    })
}

/// The same, where it has been compiled; it loads no compiler for that.
///
/// # Errors
///
/// Where there is no NVRTC.
pub(crate) fn compiled(
    source: &str,
    capability: u32,
    options: &CompileOptions,
) -> Result<Option<Arc<Cubin>>> {
    let identity = identity()?;
    let arguments = arguments(&identity.architecture(capability), options);
    Ok(CODE.known(code_store(), kernel_key(source, &arguments, identity.version)))
}

/// The options of every compilation. Products and sums stay as the program has
/// them (`--fmad=false`), and the assembler reports what it has used.
fn arguments(architecture: &str, options: &CompileOptions) -> Vec<String> {
    let mut arguments = vec![
        format!("--gpu-architecture={architecture}"),
        "--std=c++17".to_owned(),
        "--fmad=false".to_owned(),
        "--ftz=false".to_owned(),
        "--prec-div=true".to_owned(),
        "--prec-sqrt=true".to_owned(),
        "--generate-line-info".to_owned(),
        "-default-device".to_owned(),
    ];
    if !architecture.starts_with("compute_") {
        arguments.push("--ptxas-options=-v".to_owned());
    }
    if options.fast {
        arguments.push("--Ofast-compile=max".to_owned());
    }
    arguments.extend(options.extra.iter().cloned());
    arguments
}

/// A program handle that is destroyed on every way out.
struct Program<'a> {
    nvrtc: &'a Nvrtc,
    raw: RawProgram,
}

impl Drop for Program<'_> {
    fn drop(&mut self) {
        // SAFETY: the handle was made by `create` and is destroyed only here.
        // The result says at most that it was invalid, which it is not.
        let _ = unsafe { (self.nvrtc.api.destroy)(&mut self.raw) };
    }
}

impl<'a> Program<'a> {
    fn create(nvrtc: &'a Nvrtc, source: &str) -> Result<Self> {
        let text = CString::new(source).map_err(|error| {
            Error::internal("the CUDA text holds a NUL byte", error.to_string())
        })?;
        let mut raw: RawProgram = std::ptr::null_mut();
        // SAFETY: `raw` receives the handle; text and name end with NUL and live
        // across the call, which copies them; there are no headers, so both
        // arrays may be null.
        let code = unsafe {
            (nvrtc.api.create)(
                &mut raw,
                text.as_ptr(),
                FILE_NAME.as_ptr(),
                0,
                std::ptr::null(),
                std::ptr::null(),
            )
        };
        check(code).map_err(|code| nvrtc.failure("nvrtcCreateProgram", code))?;
        Ok(Self { nvrtc, raw })
    }

    fn compile(&self, arguments: &[String]) -> Result<(), RawResult> {
        let owned: Vec<CString> =
            arguments.iter().filter_map(|argument| CString::new(argument.as_str()).ok()).collect();
        let pointers: Vec<*const c_char> = owned.iter().map(|text| text.as_ptr()).collect();
        let count = c_int::try_from(pointers.len()).unwrap_or(c_int::MAX);
        // SAFETY: the handle is live; the array has `count` pointers to strings
        // that end with NUL and live across the call.
        check(unsafe { (self.nvrtc.api.compile)(self.raw, count, pointers.as_ptr()) })
    }

    fn log(&self) -> Result<String> {
        let api = &self.nvrtc.api;
        Ok(text(self.bytes("nvrtcGetProgramLog", api.log_size, api.log)?))
    }

    /// What a pair of functions, one for the size and one for the bytes, gives.
    fn bytes(
        &self,
        call: &'static str,
        size: unsafe extern "C" fn(RawProgram, *mut usize) -> RawResult,
        fill: unsafe extern "C" fn(RawProgram, *mut c_char) -> RawResult,
    ) -> Result<Vec<u8>> {
        let failure = |code| self.nvrtc.failure(call, code);
        let mut n_bytes = 0;
        // SAFETY: the handle is live; the size goes to a live integer.
        check(unsafe { size(self.raw, &mut n_bytes) }).map_err(failure)?;
        let mut bytes = vec![0u8; n_bytes];
        // SAFETY: the handle is live; the buffer has the size just asked for.
        check(unsafe { fill(self.raw, bytes.as_mut_ptr().cast()) }).map_err(failure)?;
        Ok(bytes)
    }
}

/// Text up to its NUL.
fn text(bytes: Vec<u8>) -> String {
    let end = bytes.iter().position(|&byte| byte == 0).unwrap_or(bytes.len());
    String::from_utf8_lossy(&bytes[..end]).into_owned()
}

/// NVRTC refuses text that we have made: our defect. Says all that is needed to
/// find it, and leaves the text in a file.
fn refusal(source: &str, arguments: &[String], reason: &str, log: &str) -> Error {
    let mut hasher = DefaultHasher::new();
    source.hash(&mut hasher);
    let path = std::env::temp_dir().join(format!("tile-runtime-{:016x}.cu", hasher.finish()));
    let dump = match std::fs::write(&path, source) {
        Ok(()) => format!("the source is in {}", path.display()),
        Err(error) => format!("the source could not be written to {}: {error}", path.display()),
    };
    let numbered: String =
        (1..).zip(source.lines()).map(|(number, line)| format!("{number:5} | {line}\n")).collect();
    let detail =
        format!("{reason}\noptions: {}\n{}\n{numbered}{dump}", arguments.join(" "), log.trim_end());
    Error::internal("NVRTC refuses generated CUDA C++", detail)
}
