//! Times launches for benchmarks: many launches in one CUDA graph, so that what
//! is measured is the kernel and not the launching of it.

use std::time::Instant;

use crate::error::Result;
use crate::stream::Stream;

/// How launches were timed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// Device events around a graph of all launches.
    Graph,
    /// Device events around the launches one after the other.
    BackToBack,
    /// The host's clock.
    HostClock,
}

/// Time per launch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Timing {
    /// Median over the rounds, in milliseconds.
    pub median_ms: f64,
    /// The fastest round, in milliseconds.
    pub min_ms: f64,
    /// Rounds.
    pub rounds: usize,
    /// Launches per round.
    pub launches: usize,
    /// How it was measured.
    pub method: Method,
}

/// Times `launch`, which launches one kernel on the stream it is given: one
/// round to warm up, then `rounds` rounds of `launches` launches each.
///
/// # Errors
///
/// Those of `launch`, and a device's faults.
pub fn time_launches(
    stream: &Stream,
    launches: usize,
    rounds: usize,
    launch: &mut dyn FnMut(&Stream) -> Result<()>,
) -> Result<Timing> {
    let (launches, rounds) = (launches.max(1), rounds.max(1));
    launch(stream)?;
    stream.synchronize()?;
    #[cfg(feature = "cuda")]
    if let Some(queue) = stream.queue() {
        let mut body = || launch(stream);
        let (times, graph) = crate::cuda::time_rounds(queue, launches, rounds, &mut body)?;
        let method = if graph { Method::Graph } else { Method::BackToBack };
        return Ok(summarize(times, launches, method));
    }
    let mut times = Vec::with_capacity(rounds);
    for _ in 0..rounds {
        let start = Instant::now();
        for _ in 0..launches {
            launch(stream)?;
        }
        times.push(start.elapsed().as_secs_f64() * 1e3);
    }
    Ok(summarize(times, launches, Method::HostClock))
}

/// From milliseconds per round.
fn summarize(mut times_ms: Vec<f64>, launches: usize, method: Method) -> Timing {
    times_ms.sort_by(f64::total_cmp);
    let rounds = times_ms.len();
    let (upper, lower) = (times_ms[rounds / 2], times_ms[(rounds - 1) / 2]);
    let per_launch = 1.0 / launches as f64;
    Timing {
        median_ms: (upper + lower) / 2.0 * per_launch,
        min_ms: times_ms[0] * per_launch,
        rounds,
        launches,
        method,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_of_an_even_number_is_the_mean_of_two() {
        let timing = summarize(vec![40.0, 10.0, 20.0, 30.0], 10, Method::HostClock);
        assert_eq!((timing.median_ms, timing.min_ms), (2.5, 1.0));
    }
}
