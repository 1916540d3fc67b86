//! Which launches a device fault may be of.
//!
//! A kernel that fails does so after its launch has returned; the driver tells
//! at some later call, and not which kernel it was. So the device keeps what it
//! has launched since the last wait.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use cudarc::driver::DriverError;
use cudarc::driver::sys::CUresult;

use crate::error::DeviceFault;

/// Different launches that are kept.
const MAX_LAUNCHES: usize = 32;

/// One kernel in one configuration on one queue.
#[derive(Debug)]
struct Launch {
    queue: u64,
    label: Arc<str>,
    /// When it was launched last.
    number: u64,
}

#[derive(Debug, Default)]
struct Launches {
    /// The latest last.
    list: Vec<Launch>,
    n_dropped: usize,
}

/// What a device has launched since the last wait.
#[derive(Debug, Default)]
pub(super) struct LaunchLog {
    launches: Mutex<Launches>,
    next: AtomicU64,
}

/// A point in time between launches.
#[derive(Clone, Copy, Debug)]
pub(super) struct Mark(u64);

impl LaunchLog {
    /// Notes a launch, before it is made.
    pub(super) fn note(&self, queue: u64, label: &Arc<str>) {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let mut launches = self.launches.lock().unwrap_or_else(PoisonError::into_inner);
        let same = |launch: &Launch| launch.queue == queue && launch.label == *label;
        if let Some(known) = launches.list.last_mut().filter(|launch| same(launch)) {
            known.number = number;
            return;
        }
        launches.list.retain(|launch| !same(launch));
        if launches.list.len() == MAX_LAUNCHES {
            launches.list.remove(0);
            launches.n_dropped += 1;
        }
        launches.list.push(Launch { queue, label: label.clone(), number });
    }

    /// Now: what is launched later is not what a wait that starts now waits for.
    pub(super) fn mark(&self) -> Mark {
        Mark(self.next.load(Ordering::Relaxed))
    }

    /// Forgets what was launched before `mark`, on `queue` or on all: it is done.
    pub(super) fn done(&self, queue: Option<u64>, mark: Mark) {
        let mut launches = self.launches.lock().unwrap_or_else(PoisonError::into_inner);
        launches.list.retain(|launch| {
            launch.number >= mark.0 || queue.is_some_and(|queue| queue != launch.queue)
        });
        if launches.list.is_empty() {
            launches.n_dropped = 0;
        }
    }

    /// The fault that the driver has told, with all launches that it may be of.
    pub(super) fn fault(&self, device: &str, reason: String) -> DeviceFault {
        let launches = self.launches.lock().unwrap_or_else(PoisonError::into_inner);
        let mut texts: Vec<String> = Vec::new();
        for launch in &launches.list {
            if !texts.iter().any(|text| **text == *launch.label) {
                texts.push(launch.label.to_string());
            }
        }
        let device = device.to_owned();
        DeviceFault { device, reason, launches: texts, n_dropped: launches.n_dropped }
    }
}

/// Whether the code tells of a kernel that failed, after which the context is
/// lost: every later call returns the same.
///
/// # Source
///
/// CUDA driver API 13.0, `CUresult`: those that "leave the process in an
/// inconsistent state".
pub(super) fn is_device_fault(error: DriverError) -> bool {
    matches!(
        error.0,
        CUresult::CUDA_ERROR_ECC_UNCORRECTABLE
            | CUresult::CUDA_ERROR_NVLINK_UNCORRECTABLE
            | CUresult::CUDA_ERROR_ILLEGAL_ADDRESS
            | CUresult::CUDA_ERROR_LAUNCH_TIMEOUT
            | CUresult::CUDA_ERROR_ASSERT
            | CUresult::CUDA_ERROR_HARDWARE_STACK_ERROR
            | CUresult::CUDA_ERROR_ILLEGAL_INSTRUCTION
            | CUresult::CUDA_ERROR_MISALIGNED_ADDRESS
            | CUresult::CUDA_ERROR_INVALID_ADDRESS_SPACE
            | CUresult::CUDA_ERROR_INVALID_PC
            | CUresult::CUDA_ERROR_LAUNCH_FAILED
    )
}

/// The driver's words for a code. The driver must be there.
pub(super) fn reason(error: DriverError) -> String {
    let code = error.0;
    match error.error_string() {
        Ok(text) => format!("{} ({code:?})", text.to_string_lossy()),
        Err(_) => format!("{code:?}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(log: &LaunchLog) -> Vec<String> {
        log.fault("d", "r".into()).launches
    }

    #[test]
    fn a_wait_forgets_its_queue_only() {
        let log = LaunchLog::default();
        let (a, b): (Arc<str>, Arc<str>) = ("a".into(), "b".into());
        log.note(1, &a);
        log.note(2, &b);
        log.note(1, &a);
        assert_eq!(labels(&log), ["b", "a"]);
        log.done(Some(1), log.mark());
        assert_eq!(labels(&log), ["b"]);
        log.done(None, log.mark());
        assert!(labels(&log).is_empty());
    }

    #[test]
    fn what_is_launched_during_a_wait_is_kept() {
        let log = LaunchLog::default();
        let (a, b): (Arc<str>, Arc<str>) = ("a".into(), "b".into());
        log.note(1, &a);
        let mark = log.mark();
        log.note(1, &b);
        log.done(Some(1), mark);
        assert_eq!(labels(&log), ["b"]);
    }

    #[test]
    fn the_oldest_are_dropped_and_counted() {
        let log = LaunchLog::default();
        for number in 0..MAX_LAUNCHES + 3 {
            log.note(1, &number.to_string().into());
        }
        let fault = log.fault("d", "r".into());
        assert_eq!((fault.launches.len(), fault.n_dropped), (MAX_LAUNCHES, 3));
        assert_eq!(fault.launches[0], "3");
    }
}
