//! Measures one piece of work: every configuration is checked, then those that
//! are right are timed in turn with the peer.

use std::cell::Cell;
use std::rc::Rc;

use tile_runtime::bench::{Blas, Launch, Method, Sampling, Timing, time_interleaved};
use tile_runtime::ir::config::Numerics;
use tile_runtime::ir::kernel::{Stmt, StmtKind};
use tile_runtime::{Config, Device, DeviceProperties, Options, Stream, Tune};

use crate::case::{Bench, Case, Failure, Peer, Work};
use crate::config_text;
use crate::line::{Figures, Time};
use crate::list::Source;

impl Bench {
    pub(crate) fn new(stream: Stream, device: Device, blas: Option<Rc<Blas>>) -> Self {
        Self { device, stream, blas, may_round_otherwise: Cell::new(false) }
    }

    /// Options of a launch on the stream that is measured.
    pub(crate) fn options(&self) -> Options {
        Options::new().stream(&self.stream).tune(Tune::Off)
    }

    /// The peer's name, if it is there.
    fn peer(&self, peer: Peer) -> Option<String> {
        match (peer, &self.blas) {
            (Peer::Blas, Some(blas)) => Some(format!("cuBLAS {}", blas.version())),
            (Peer::Blas, None) | (Peer::Nothing, _) => None,
            (Peer::Copy, _) if self.device.is_cpu() => Some("memcpy".to_owned()),
            (Peer::Copy, _) => Some("cuMemcpyDtoD".to_owned()),
        }
    }
}

/// From here on the host launches well ahead of the device, without a graph too.
const LAUNCH_MS: f64 = 0.05;

/// A configuration on its way through checks and timings.
struct Candidate {
    source: Source,
    /// The launch's own choice where there is none.
    config: Option<Config>,
    /// The greatest deviation, or why it is out.
    verdict: Result<f64, String>,
}

/// One line for each configuration of a case: the default first, then `others`.
pub(crate) fn measure(
    bench: &Bench,
    case: &Case,
    others: &[(Source, Config)],
    sampling: Sampling,
) -> Vec<Time> {
    let default = case.kernel.config_for(bench.device.properties(), &case.dims());
    let (default, failure) = match default {
        Ok(config) => (Some(config), String::new()),
        Err(error) => (None, error.to_string()),
    };
    let mut candidates = vec![Candidate {
        source: Source::Default,
        verdict: if default.is_some() { Ok(0.0) } else { Err(failure) },
        config: default,
    }];
    let others = others.iter().map(|(source, config)| Candidate {
        source: *source,
        config: Some(config.clone()),
        verdict: Ok(0.0),
    });
    candidates.extend(others);
    let mut figures = match (case.open)(bench) {
        Ok(work) => {
            for candidate in &mut candidates {
                check(bench, case, &*work, candidate);
            }
            time(bench, case, &*work, &mut candidates, sampling)
        }
        Err(error) => {
            candidates.iter_mut().for_each(|candidate| candidate.verdict = Err(error.to_string()));
            vec![None; candidates.len()]
        }
    };
    let quickest = (0..figures.len())
        .filter(|&at| figures[at].is_some())
        .min_by(|&one, &other| ms(&figures[one]).total_cmp(&ms(&figures[other])));
    let lines = candidates.into_iter().enumerate().map(|(at, candidate)| Time {
        op: case.op,
        dtype: case.dtype,
        shape: case.shape.clone(),
        source: candidate.source,
        best: quickest == Some(at),
        config: candidate.config.as_ref().map(config_text::print).unwrap_or_default(),
        figures: figures[at].take(),
        deviation: candidate.verdict.as_ref().ok().copied(),
        error: candidate.verdict.err(),
    });
    lines.collect()
}

fn ms(figures: &Option<Figures>) -> f64 {
    figures.as_ref().map_or(f64::INFINITY, |figures| figures.median_ms)
}

/// Whether a configuration may give other bits than the one before: it sums in
/// another order, or the kernel reduces over blocks, whose size it chooses.
fn may_round_otherwise(case: &Case, config: &Config) -> bool {
    fn reduces(stmts: &[Stmt]) -> bool {
        stmts.iter().any(|stmt| {
            matches!(stmt.kind, StmtKind::Exchange { .. })
                || stmt.kind.bodies().into_iter().any(reduces)
        })
    }
    config.numerics == Numerics::Reassociated || reduces(&case.kernel.checked().kernel().body)
}

/// Runs a configuration once and compares its results.
fn check(bench: &Bench, case: &Case, work: &dyn Work, candidate: &mut Candidate) {
    let Some(config) = &candidate.config else { return };
    let outcome = work.reset(bench).and_then(|()| {
        bench.may_round_otherwise.set(may_round_otherwise(case, config));
        work.launch(bench.options().config(config.clone()))?;
        work.verify(bench)
    });
    candidate.verdict = outcome.map_err(|Failure(text)| text);
}

/// The figures of those that are right.
fn time(
    bench: &Bench,
    case: &Case,
    work: &dyn Work,
    candidates: &mut [Candidate],
    sampling: Sampling,
) -> Vec<Option<Figures>> {
    let mut launches: Vec<Box<Launch<'_>>> = Vec::new();
    let mut timed = Vec::new();
    for (at, candidate) in candidates.iter().enumerate() {
        if let (Some(config), Ok(_)) = (&candidate.config, &candidate.verdict) {
            let options = bench.options().config(config.clone());
            launches.push(Box::new(move |_| work.launch(options.clone())));
            timed.push(at);
        }
    }
    let peer = bench.peer(case.peer).filter(|_| !timed.is_empty());
    if peer.is_some() {
        launches.push(Box::new(|_| work.launch_peer(bench)));
    }
    // A graph has large copies made by slower engines than a stream has.
    let sampling = match case.peer {
        Peer::Copy => Sampling { graph_below_ms: LAUNCH_MS, ..sampling },
        Peer::Blas | Peer::Nothing => sampling,
    };
    // A first launch of the peer may allocate, which a graph cannot hold.
    let warm = if peer.is_some() { work.launch_peer(bench) } else { Ok(()) };
    let mut timings = time_interleaved(&bench.stream, sampling, &mut launches);
    let peer_timing = peer.as_ref().and_then(|_| timings.pop());
    let peer_ms =
        peer_timing.and_then(|timing| warm.and(timing).ok()).map(|timing| timing.median_ms);
    let mut figures = vec![None; candidates.len()];
    for (at, timing) in timed.into_iter().zip(timings) {
        match timing {
            Ok(timing) => {
                let peer = peer.clone().filter(|_| peer_ms.is_some());
                figures[at] = Some(of_timing(bench, case, &timing, (peer, peer_ms)));
            }
            Err(error) => candidates[at].verdict = Err(error.to_string()),
        }
    }
    figures
}

fn of_timing(
    bench: &Bench,
    case: &Case,
    timing: &Timing,
    (peer, peer_median_ms): (Option<String>, Option<f64>),
) -> Figures {
    let properties = bench.device.properties();
    let bound = case.cost.bound(properties);
    let rate = |work: f64| (work > 0.0).then_some(work / timing.median_ms / 1e6);
    Figures {
        median_ms: timing.median_ms,
        min_ms: timing.min_ms,
        gflop_per_s: rate(case.cost.flops),
        gb_per_s: if case.cost.flops > 0.0 { None } else { rate(case.cost.bytes) },
        peer,
        peer_median_ms,
        ratio: peer_median_ms.map(|peer_ms| peer_ms / timing.median_ms),
        roofline: format!("{} ({})", bound.by, case.cost.formula),
        roofline_ms: bound.ms,
        of_roofline: bound.ms / timing.median_ms,
        method: match timing.method {
            Method::Graph => "graph",
            Method::BackToBack => "back_to_back",
            Method::HostClock => "host_clock",
        },
        launches: timing.launches,
        rounds: timing.rounds,
        l2: l2_state(case.cost.bytes, properties),
    }
}

/// Launches follow one another on the same data: what fits the cache is in it.
fn l2_state(bytes: f64, device: &DeviceProperties) -> String {
    let state = if bytes <= device.l2_bytes as f64 { "warm" } else { "overrun" };
    format!(
        "{state}: {:.1} MB of data, {:.1} MB of cache",
        bytes / 1e6,
        device.l2_bytes as f64 / 1e6
    )
}

#[cfg(test)]
mod tests {
    use tile_runtime::Device;

    use super::*;
    use crate::ops::cases;

    const SAMPLING: Sampling =
        Sampling { rounds: 1, round_ms: 0.0, least_launches: 1, graph_below_ms: 1.0 };

    /// All work at a small, ragged shape: in its default configuration, and in
    /// one that does not exist.
    #[test]
    fn small_work_is_right_on_the_cpu() {
        let device = Device::cpu();
        let bench = Bench::new(device.stream(), device, None);
        for case in cases(true) {
            let impossible = Config {
                tiles: Vec::new(),
                ..case.kernel.config_for(bench.device.properties(), &case.dims()).unwrap()
            };
            let lines = measure(&bench, &case, &[(Source::Listed, impossible)], SAMPLING);
            let [default, listed] = &lines[..] else { panic!("{lines:?}") };
            assert!(default.best && default.error.is_none(), "{}: {default:?}", case.op);
            let figures = default.figures.as_ref().unwrap();
            assert!(figures.median_ms > 0.0 && figures.of_roofline > 0.0);
            assert_eq!(figures.ratio.is_some(), case.peer == Peer::Copy);
            assert!(listed.figures.is_none() && !listed.best);
            assert!(listed.error.as_ref().unwrap().contains("tile"), "{listed:?}");
        }
    }
}
