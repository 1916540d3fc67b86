//! Times several launches against each other: round by round in turn, so that a
//! clock that changes or a device that warms up meets all of them alike.

use super::{Launch, Round, Timing, summarize};
use crate::error::Result;
use crate::stream::Stream;

/// Of shorter launches a round has at least [`Sampling::least_launches`].
const SHORT_MS: f64 = 1.0;
/// Most launches of a round.
const MOST_LAUNCHES: f64 = 1000.0;

/// How much is measured.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sampling {
    /// Rounds of each launch.
    pub rounds: usize,
    /// What a round of the quickest launch should last, in milliseconds: the
    /// launching of a round is then small beside it.
    pub round_ms: f64,
    /// Launches of a round, at least, where one takes less than a millisecond.
    pub least_launches: usize,
    /// A round of launches that take less than so many milliseconds is one CUDA
    /// graph; longer ones follow one another in the stream. The driver has its
    /// copies made by other engines in a graph than in a stream: 1 GiB, read and
    /// written, at 2.7 TB/s instead of 4.2 on an H200.
    pub graph_below_ms: f64,
}

impl Sampling {
    /// Launches of a round where the quickest takes `least_ms`.
    fn launches(&self, least_ms: f64) -> usize {
        let launches = (self.round_ms / least_ms.max(1e-6)).ceil().clamp(1.0, MOST_LAUNCHES);
        let least = if least_ms < SHORT_MS { self.least_launches.max(1) } else { 1 };
        (launches as usize).max(least)
    }
}

/// Times `launches`, each of which has run once on the stream before, with the
/// same number of launches a round. The order of each round is the reverse of
/// the one before it. What fails is left out of the later rounds.
pub fn time_interleaved(
    stream: &Stream,
    sampling: Sampling,
    launches: &mut [Box<Launch<'_>>],
) -> Vec<Result<Timing>> {
    let mut least_ms = f64::INFINITY;
    let mut entries: Vec<Result<Entry<'_>>> = Vec::with_capacity(launches.len());
    for launch in &mut *launches {
        let single = warm(stream, launch);
        least_ms = least_ms.min(*single.as_ref().unwrap_or(&f64::INFINITY));
        entries.push(single.map(|_| Entry { round: None, times_ms: Vec::new() }));
    }
    let n_launches = sampling.launches(least_ms);
    let as_graph = least_ms < sampling.graph_below_ms;
    // The first round warms up.
    for number in 0..=sampling.rounds.max(1) {
        let mut turn: Vec<_> = entries.iter_mut().zip(&mut *launches).collect();
        if number % 2 == 1 {
            turn.reverse();
        }
        for (entry, launch) in turn {
            let Ok(open) = entry else { continue };
            match open.run(stream, n_launches, as_graph, launch) {
                Ok(time_ms) if number > 0 => open.times_ms.push(time_ms),
                Ok(_) => {}
                Err(error) => *entry = Err(error),
            }
        }
    }
    entries.into_iter().map(|entry| entry.map(|entry| entry.timing(n_launches))).collect()
}

/// Milliseconds of a single launch, the lesser of two.
fn warm(stream: &Stream, launch: &mut Launch<'_>) -> Result<f64> {
    let round = Round::record(stream, 1, true, launch)?;
    Ok(round.run(launch)?.min(round.run(launch)?))
}

/// One of the launches.
struct Entry<'a> {
    round: Option<Round<'a>>,
    times_ms: Vec<f64>,
}

impl<'a> Entry<'a> {
    fn run(
        &mut self,
        stream: &'a Stream,
        n_launches: usize,
        as_graph: bool,
        launch: &mut Launch<'_>,
    ) -> Result<f64> {
        let round = match self.round.take() {
            Some(round) => round,
            None => Round::record(stream, n_launches, as_graph, launch)?,
        };
        self.round.insert(round).run(launch)
    }

    fn timing(self, n_launches: usize) -> Timing {
        let method = self.round.as_ref().map_or(super::Method::HostClock, Round::method);
        summarize(self.times_ms, n_launches, method)
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use super::*;
    use crate::device::Device;
    use crate::error::Error;

    const SAMPLING: Sampling =
        Sampling { rounds: 2, round_ms: 0.0, least_launches: 3, graph_below_ms: 1.0 };

    #[test]
    fn rounds_take_turns_and_a_failure_leaves_the_others() {
        let calls = RefCell::new(String::new());
        let stream = Device::cpu().stream();
        let note = |name: char| {
            calls.borrow_mut().push(name);
            Ok(())
        };
        let mut launches: Vec<Box<Launch<'_>>> = vec![
            Box::new(|_| note('a')),
            Box::new(|_| Err(Error::internal("it does not run", ""))),
            Box::new(|_| note('b')),
        ];
        let timings = time_interleaved(&stream, SAMPLING, &mut launches);
        assert!(timings[1].is_err());
        for at in [0, 2] {
            let timing = timings[at].as_ref().unwrap();
            assert_eq!((timing.rounds, timing.launches), (2, 3));
        }
        drop(launches);
        // Two single launches each, then three rounds of three.
        assert_eq!(calls.into_inner(), ["aabb", "aaabbb", "bbbaaa", "aaabbb"].concat());
    }

    #[test]
    fn short_launches_come_in_graphs_of_many() {
        let sampling =
            Sampling { rounds: 1, round_ms: 10.0, least_launches: 20, graph_below_ms: 1.0 };
        assert_eq!(sampling.launches(0.015), 667);
        assert_eq!(sampling.launches(0.9), 20);
        assert_eq!(sampling.launches(2.0), 5);
        assert_eq!(sampling.launches(21.0), 1);
        assert_eq!(sampling.launches(f64::INFINITY), 1);
        assert_eq!(sampling.launches(0.0), 1000);
    }
}
