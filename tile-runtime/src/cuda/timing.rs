//! Times launches on the device's clock.

use cudarc::driver::sys::{CUevent_flags, CUgraphInstantiate_flags, CUstreamCaptureMode};
use cudarc::driver::{CudaGraph, DriverError};

use super::driver::check_timing;
use super::queue::CudaQueue;
use crate::error::Result;

/// Milliseconds of each of `rounds` rounds of `launches` calls of `launch`,
/// which queues one launch on `queue`; and whether a round was one CUDA graph.
pub(crate) fn time_rounds(
    queue: &CudaQueue,
    launches: usize,
    rounds: usize,
    launch: &mut dyn FnMut() -> Result<()>,
) -> Result<(Vec<f64>, bool)> {
    check_timing()?;
    let graph = capture(queue, launches, launch);
    let failed = |error: DriverError| queue.context.error("time launches", error);
    let event = || queue.context.cuda.new_event(Some(CUevent_flags::CU_EVENT_DEFAULT));
    let (start, end) = (event().map_err(failed)?, event().map_err(failed)?);
    let mut round = || -> Result<()> {
        match &graph {
            Some(graph) => graph.launch().map_err(failed),
            None => (0..launches).try_for_each(|_| launch()),
        }
    };
    round()?;
    queue.synchronize()?;
    let mut times = Vec::with_capacity(rounds);
    for _ in 0..rounds {
        start.record(&queue.stream).map_err(failed)?;
        round()?;
        end.record(&queue.stream).map_err(failed)?;
        times.push(f64::from(start.elapsed_ms(&end).map_err(failed)?));
    }
    queue.synchronize()?;
    Ok((times, graph.is_some()))
}

/// The launches as one graph, or nothing where they cannot be captured.
fn capture(
    queue: &CudaQueue,
    launches: usize,
    launch: &mut dyn FnMut() -> Result<()>,
) -> Option<CudaGraph> {
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
