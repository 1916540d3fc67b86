//! Times launches for benchmarks: many launches in one CUDA graph, so that what
//! is measured is the kernel and not the launching of it.

mod interleave;
mod peers;

use std::time::Instant;

use crate::error::Result;
use crate::stream::Stream;

#[cfg(feature = "cuda")]
use crate::cuda::Round as CudaRound;

pub use interleave::{Sampling, time_interleaved};
#[cfg(feature = "peers")]
pub use peers::Blas;
pub use peers::copy;

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

/// Something that queues one launch on the stream it is given, on the same
/// tensors each time: what it queued once may be queued again without it.
pub type Launch<'a> = dyn FnMut(&Stream) -> Result<()> + 'a;

/// Times `launch`: one round to warm up, then `rounds` rounds of `launches`
/// launches each.
///
/// # Errors
///
/// Those of `launch`, and a device's faults.
pub fn time_launches(
    stream: &Stream,
    launches: usize,
    rounds: usize,
    launch: &mut Launch<'_>,
) -> Result<Timing> {
    let (launches, rounds) = (launches.max(1), rounds.max(1));
    launch(stream)?;
    stream.synchronize()?;
    let round = Round::record(stream, launches, true, launch)?;
    round.run(launch)?;
    let times = (0..rounds).map(|_| round.run(launch));
    Ok(summarize(times.collect::<Result<_>>()?, launches, round.method()))
}

/// Launches that are timed together.
struct Round<'a> {
    stream: &'a Stream,
    launches: usize,
    #[cfg(feature = "cuda")]
    cuda: Option<CudaRound>,
}

impl<'a> Round<'a> {
    /// Of `launches` calls of `launch`, which has run once on the stream before; as
    /// one CUDA graph where `as_graph` says so and it can.
    fn record(
        stream: &'a Stream,
        launches: usize,
        as_graph: bool,
        launch: &mut Launch<'_>,
    ) -> Result<Self> {
        #[cfg(feature = "cuda")]
        {
            let mut body = || launch(stream);
            let record = |queue| CudaRound::record(queue, launches, as_graph, &mut body);
            let cuda = stream.queue().map(record).transpose()?;
            Ok(Self { stream, launches, cuda })
        }
        #[cfg(not(feature = "cuda"))]
        {
            let _ = (launch, as_graph);
            Ok(Self { stream, launches })
        }
    }

    /// Milliseconds of all launches together.
    fn run(&self, launch: &mut Launch<'_>) -> Result<f64> {
        #[cfg(feature = "cuda")]
        if let Some(cuda) = &self.cuda {
            return cuda.run(&mut || launch(self.stream));
        }
        let start = Instant::now();
        for _ in 0..self.launches {
            launch(self.stream)?;
        }
        Ok(start.elapsed().as_secs_f64() * 1e3)
    }

    fn method(&self) -> Method {
        #[cfg(feature = "cuda")]
        if let Some(cuda) = &self.cuda {
            return if cuda.is_graph() { Method::Graph } else { Method::BackToBack };
        }
        Method::HostClock
    }
}

/// From milliseconds per round, of which there is at least one.
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

/// A small kernel that is launched by calls of the driver alone.
#[cfg(feature = "cuda")]
#[derive(Debug)]
pub struct BareLaunch(crate::cuda::BareLaunch);

#[cfg(feature = "cuda")]
impl BareLaunch {
    /// Compiles it.
    ///
    /// # Errors
    ///
    /// Where the stream is the CPU's, or NVRTC or the device fails.
    pub fn new(stream: &Stream) -> Result<Self> {
        let queue = stream.queue().ok_or_else(|| {
            crate::Error::internal("a bare launch needs a CUDA device", "this is the CPU")
        })?;
        crate::cuda::BareLaunch::new(queue).map(Self)
    }

    /// Queues so many launches.
    ///
    /// # Errors
    ///
    /// Those of the driver.
    pub fn launch(&self, launches: usize) -> Result<()> {
        self.0.launch(launches)
    }
}

/// Gives NVRTC further options for every kernel that this process compiles for
/// launches from now on, e.g. `--no-cache`. The first call counts.
#[cfg(feature = "cuda")]
pub fn add_compile_options(options: &[&str]) {
    crate::cuda::add_compile_options(options);
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
