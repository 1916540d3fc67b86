//! Times launches on the device's clock.

use std::sync::PoisonError;

use cudarc::driver::sys::{CUevent_flags, CUgraphInstantiate_flags, CUstreamCaptureMode};
use cudarc::driver::{CudaEvent, CudaGraph, DriverError};

use super::driver::check_timing;
use super::queue::CudaQueue;
use crate::error::Result;

/// Launches that are timed together, between two events.
///
/// Launching may make a queue wait for others, and may allocate, the first time
/// only; both would end a capture. The same launch has therefore run once on the
/// queue before it is recorded.
pub(crate) struct Round {
    queue: CudaQueue,
    launches: usize,
    /// Nothing where none was asked for, or the launches cannot be captured.
    graph: Option<CudaGraph>,
    start: CudaEvent,
    end: CudaEvent,
}

impl Round {
    /// Records `launches` calls of `launch`, which queues one launch on `queue`,
    /// and runs none; as one CUDA graph where `as_graph` says so.
    pub(crate) fn record(
        queue: &CudaQueue,
        launches: usize,
        as_graph: bool,
        launch: &mut dyn FnMut() -> Result<()>,
    ) -> Result<Self> {
        check_timing()?;
        let graph = if as_graph { capture(queue, launches, launch) } else { None };
        let event = || queue.context.cuda.new_event(Some(CUevent_flags::CU_EVENT_DEFAULT));
        let failed = |error| queue.context.error("time launches", error);
        let (start, end) = (event().map_err(failed)?, event().map_err(failed)?);
        Ok(Self { queue: queue.clone(), launches, graph, start, end })
    }

    /// Whether it is one CUDA graph.
    pub(crate) fn is_graph(&self) -> bool {
        self.graph.is_some()
    }

    /// Runs the launches and waits for them; milliseconds of all together.
    pub(crate) fn run(&self, launch: &mut dyn FnMut() -> Result<()>) -> Result<f64> {
        let queue = &self.queue;
        let failed = |error: DriverError| queue.context.error("time launches", error);
        self.start.record(&queue.stream).map_err(failed)?;
        match &self.graph {
            Some(graph) => graph.launch().map_err(failed)?,
            None => (0..self.launches).try_for_each(|_| launch())?,
        }
        self.end.record(&queue.stream).map_err(failed)?;
        queue.synchronize()?;
        Ok(f64::from(self.start.elapsed_ms(&self.end).map_err(failed)?))
    }
}

/// The time of one launch among others, without waiting for it.
#[derive(Debug)]
pub(crate) struct Stopwatch {
    queue: CudaQueue,
    start: CudaEvent,
    end: CudaEvent,
}

impl Stopwatch {
    /// Starts on `queue`, where nothing is being recorded.
    pub(crate) fn start(queue: &CudaQueue) -> Result<Self> {
        let failed = |error| queue.context.error("time a launch", error);
        check_timing()?;
        let event = || queue.context.cuda.new_event(Some(CUevent_flags::CU_EVENT_DEFAULT));
        let (start, end) = (event().map_err(failed)?, event().map_err(failed)?);
        start.record(&queue.stream).map_err(failed)?;
        Ok(Self { queue: queue.clone(), start, end })
    }

    /// Stops after what was launched since.
    pub(crate) fn stop(&self) -> Result<()> {
        let stopped = self.end.record(&self.queue.stream);
        stopped.map_err(|error| self.queue.context.error("time a launch", error))
    }

    /// The seconds in between, once they are over.
    pub(crate) fn seconds(&self) -> Result<Option<f64>> {
        let failed = |error| self.queue.context.error("time a launch", error);
        if !self.end.try_is_complete().map_err(failed)? {
            return Ok(None);
        }
        let ms = self.start.elapsed_ms(&self.end).map_err(failed)?;
        Ok(Some(f64::from(ms) * 1e-3))
    }
}

/// The launches as one graph, or nothing where they cannot be captured.
fn capture(
    queue: &CudaQueue,
    launches: usize,
    launch: &mut dyn FnMut() -> Result<()>,
) -> Option<CudaGraph> {
    let _recording = queue.context.recording.lock().unwrap_or_else(PoisonError::into_inner);
    let mode = CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL;
    queue.stream.begin_capture(mode).ok()?;
    let launched = (0..launches).try_for_each(|_| launch());
    // Whatever has happened, the stream must leave the capture.
    let graph = queue.stream.end_capture(CUgraphInstantiate_flags(0));
    launched.ok()?;
    let graph = graph.ok()??;
    graph.upload().ok()?;
    Some(graph)
}
