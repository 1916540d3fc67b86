//! Global-memory arrays as the host hands them over.

use tile_ir::dtype::DType;

/// A global-memory array of a launch.
#[derive(Debug)]
pub(crate) struct CpuBuffer {
    ptr: *mut u8,
    len_elems: usize,
    dtype: DType,
    writable: bool,
}

// SAFETY: the pointer is a capability to memory that `CpuBuffer::new`'s caller
// has promised to this launch, whichever threads run it.
unsafe impl Send for CpuBuffer {}
// SAFETY: as above; a shared `CpuBuffer` gives out nothing but its fields.
unsafe impl Sync for CpuBuffer {}

impl CpuBuffer {
    /// An array of `len_elems` elements of `dtype` at `ptr`.
    ///
    /// # Safety
    ///
    /// As long as the buffer exists: `ptr` is aligned for `dtype` (or `len_elems`
    /// is 0) and valid for reads of `len_elems` initialised elements, from any
    /// thread, and for writes too where `writable`; nothing but launches that
    /// were given a `CpuBuffer` of it writes that memory, and where `writable`
    /// nothing else reads it.
    pub(crate) unsafe fn new(ptr: *mut u8, len_elems: usize, dtype: DType, writable: bool) -> Self {
        Self { ptr, len_elems, dtype, writable }
    }

    /// First element.
    pub(super) fn ptr(&self) -> *mut u8 {
        self.ptr
    }

    /// Number of elements.
    pub(super) fn len_elems(&self) -> usize {
        self.len_elems
    }

    /// Type of the elements.
    pub(super) fn dtype(&self) -> DType {
        self.dtype
    }

    /// Whether the launch may write it.
    pub(super) fn is_writable(&self) -> bool {
        self.writable
    }
}
