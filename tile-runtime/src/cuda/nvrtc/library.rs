//! The loaded library: its functions, its version, the architectures it knows.

use std::ffi::{CStr, c_char, c_int};
use std::path::{Path, PathBuf};

use libloading::Library;

use super::identity::Identity;
use crate::error::{EnvironmentError, Result};

/// `nvrtcProgram`: an opaque handle.
pub(super) type RawProgram = *mut std::ffi::c_void;
/// `nvrtcResult`: 0 is success. Kept as a number, since newer libraries have
/// codes that we do not know.
pub(super) type RawResult = c_int;

/// A function of one program and one output.
type Getter<T> = unsafe extern "C" fn(RawProgram, *mut T) -> RawResult;

/// The functions that we call.
///
/// # Source
///
/// NVRTC 13.0 documentation, "User interface"; unchanged since 11.2, which
/// brought CUBINs and the list of architectures.
#[derive(Clone, Copy)]
pub(super) struct Api {
    pub(super) create: unsafe extern "C" fn(
        *mut RawProgram,
        *const c_char,
        *const c_char,
        c_int,
        *const *const c_char,
        *const *const c_char,
    ) -> RawResult,
    pub(super) destroy: unsafe extern "C" fn(*mut RawProgram) -> RawResult,
    pub(super) compile: unsafe extern "C" fn(RawProgram, c_int, *const *const c_char) -> RawResult,
    pub(super) log_size: Getter<usize>,
    pub(super) log: Getter<c_char>,
    pub(super) cubin_size: Getter<usize>,
    pub(super) cubin: Getter<c_char>,
    pub(super) ptx_size: Getter<usize>,
    pub(super) ptx: Getter<c_char>,
    version: unsafe extern "C" fn(*mut c_int, *mut c_int) -> RawResult,
    n_architectures: unsafe extern "C" fn(*mut c_int) -> RawResult,
    architectures: unsafe extern "C" fn(*mut c_int) -> RawResult,
    error_string: unsafe extern "C" fn(RawResult) -> *const c_char,
}

/// A loaded NVRTC.
pub struct Nvrtc {
    pub(super) api: Api,
    path: PathBuf,
    source: String,
    version: (u32, u32),
    /// Compute capabilities that it compiles for, rising: 75, 80, …
    capabilities: Vec<u32>,
}

/// Why a file is not a usable NVRTC.
#[derive(Debug)]
pub(super) enum LoadError {
    /// The loader does not take it: nothing of this name, or not a library.
    NotLoaded(String),
    /// It is loaded, and is not what we need.
    Unusable(String),
}

impl Nvrtc {
    /// Loads the library of this path, or of this name by the system's loader.
    /// It stays loaded for the rest of the process.
    pub(super) fn load(path: &Path, source: &str) -> Result<Self, LoadError> {
        preload_builtins(path);
        // SAFETY: loading runs the library's initialisers; the name or the place
        // says that it is NVIDIA's NVRTC, whose initialisers ask for nothing.
        let library = unsafe { Library::new(path) };
        let library = library.map_err(|error| LoadError::NotLoaded(loader_words(&error)))?;
        let api = Api::of(&library).map_err(|symbol| {
            LoadError::Unusable(format!("it has no `{symbol}`: it is not NVRTC 11.2 or newer"))
        })?;
        // The functions' addresses are kept, so the library must never be unloaded.
        std::mem::forget(library);
        let unusable = |call: &str, code: RawResult| {
            LoadError::Unusable(format!("{call} fails: {}", api.describe(code)))
        };
        let (mut major, mut minor) = (0, 0);
        // SAFETY: both pointers are to live integers that the call fills.
        check(unsafe { (api.version)(&mut major, &mut minor) })
            .map_err(|code| unusable("nvrtcVersion", code))?;
        let mut count = 0;
        // SAFETY: the pointer is to a live integer that the call fills.
        check(unsafe { (api.n_architectures)(&mut count) })
            .map_err(|code| unusable("nvrtcGetNumSupportedArchs", code))?;
        let mut capabilities = vec![0; usize::try_from(count).unwrap_or(0)];
        // SAFETY: the array has as many elements as the library has just said
        // that it writes.
        check(unsafe { (api.architectures)(capabilities.as_mut_ptr()) })
            .map_err(|code| unusable("nvrtcGetSupportedArchs", code))?;
        let mut capabilities: Vec<u32> =
            capabilities.into_iter().filter_map(|value| u32::try_from(value).ok()).collect();
        capabilities.sort_unstable();
        let number = |value: c_int| u32::try_from(value).unwrap_or(0);
        Ok(Self {
            api,
            path: path.to_owned(),
            source: source.to_owned(),
            version: (number(major), number(minor)),
            capabilities,
        })
    }

    /// The library's file, or its name where the system's loader found it.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Where it was found, in words.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// Its version, (major, minor).
    pub fn version(&self) -> (u32, u32) {
        self.version
    }

    /// The architectures that it compiles CUBINs for, oldest first, e.g. `sm_75`.
    pub fn architectures(&self) -> Vec<String> {
        self.capabilities.iter().map(|capability| format!("sm_{capability}")).collect()
    }

    /// Which it is.
    pub(super) fn identity(&self) -> Identity {
        Identity { version: self.version, capabilities: self.capabilities.clone() }
    }

    /// An address that the library is mapped at.
    pub(super) fn address(&self) -> usize {
        self.api.version as *const () as usize
    }

    /// An error of a call of this library.
    pub(super) fn failure(&self, call: &'static str, code: RawResult) -> EnvironmentError {
        let reason = self.api.describe(code);
        EnvironmentError::NvrtcFailed { path: self.path.clone(), call, reason }
    }
}

impl std::fmt::Debug for Nvrtc {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (major, minor) = self.version;
        write!(f, "NVRTC {major}.{minor} ({})", self.path.display())
    }
}

impl Api {
    /// Looks all functions up; the first name that is missing is the error.
    fn of(library: &Library) -> Result<Self, &'static str> {
        /// `symbol!("name")`: the function of that name, at the type it is used at.
        macro_rules! symbol {
            ($name:literal) => {{
                // SAFETY: the type is that of the field, which is the function's
                // documented signature.
                let symbol = unsafe { library.get(concat!($name, "\0").as_bytes()) };
                *symbol.map_err(|_| $name)?
            }};
        }
        Ok(Self {
            create: symbol!("nvrtcCreateProgram"),
            destroy: symbol!("nvrtcDestroyProgram"),
            compile: symbol!("nvrtcCompileProgram"),
            log_size: symbol!("nvrtcGetProgramLogSize"),
            log: symbol!("nvrtcGetProgramLog"),
            cubin_size: symbol!("nvrtcGetCUBINSize"),
            cubin: symbol!("nvrtcGetCUBIN"),
            ptx_size: symbol!("nvrtcGetPTXSize"),
            ptx: symbol!("nvrtcGetPTX"),
            version: symbol!("nvrtcVersion"),
            n_architectures: symbol!("nvrtcGetNumSupportedArchs"),
            architectures: symbol!("nvrtcGetSupportedArchs"),
            error_string: symbol!("nvrtcGetErrorString"),
        })
    }

    /// The library's name of a result code.
    fn describe(&self, code: RawResult) -> String {
        // SAFETY: the function takes any code and returns a string constant.
        let text = unsafe { (self.error_string)(code) };
        if text.is_null() {
            return format!("result {code}");
        }
        // SAFETY: it is not null, ends with NUL and lives as long as the library.
        unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
    }
}

/// What the system's loader says; libloading's own words only name the call.
fn loader_words(error: &libloading::Error) -> String {
    let cause = std::error::Error::source(error);
    cause.map_or_else(|| error.to_string(), ToString::to_string)
}

/// A result code as a `Result`.
pub(super) fn check(code: RawResult) -> Result<(), RawResult> {
    if code == 0 { Ok(()) } else { Err(code) }
}

/// Loads the library of built-in functions that lies beside NVRTC, which NVRTC
/// itself asks the loader for by name only: in a wheel's folder it would not be
/// found. Measured: without it, 13.0 compiles nothing; 12.9 and 13.5 find it.
fn preload_builtins(nvrtc: &Path) {
    let Some(folder) = nvrtc.parent().filter(|folder| !folder.as_os_str().is_empty()) else {
        return;
    };
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    let mut builtins: Vec<PathBuf> = entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| {
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            let known = name.starts_with("libnvrtc-builtins.so") || is_windows_builtins(name);
            known && !name.contains(".alt.")
        })
        .collect();
    builtins.sort();
    for path in builtins {
        // SAFETY: as for NVRTC itself, whose part it is.
        if let Ok(library) = unsafe { Library::new(&path) } {
            std::mem::forget(library);
        }
    }
}

fn is_windows_builtins(name: &str) -> bool {
    name.starts_with("nvrtc-builtins") && name.ends_with(".dll")
}
