//! In which order blocks run, and the work-items between two barriers.

/// An order of blocks, and of the chunks of each domain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    /// As they are numbered, as many items at once as lanes are worth.
    Numbered,
    /// One item after another, in an order that depends on this seed, as that of the
    /// blocks does. Warps whose items get each other's values stay together.
    Shuffled(u64),
}

impl Order {
    /// The order of the `n` blocks of a launch, or of the `n` chunks of a domain that
    /// is the `salt`-th to be run.
    pub(super) fn of(self, n: u64, salt: u64) -> Permutation {
        match self {
            Self::Shuffled(seed) if n > 1 => Permutation::drawn(n, seed.wrapping_add(salt)),
            Self::Shuffled(_) | Self::Numbered => Permutation::Identity,
        }
    }
}

/// An order of the numbers below some number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Permutation {
    /// As they are.
    Identity,
    /// Those below `n`, from `start` on in equal steps that meet all. A few such orders
    /// part any two numbers in both ways, and none has to be stored.
    Steps { n: u64, start: u64, step: u64 },
}

impl Permutation {
    fn drawn(n: u64, seed: u64) -> Self {
        let mut rng = fastrand::Rng::with_seed(seed);
        let start = rng.u64(..n);
        let step = std::iter::repeat_with(|| rng.u64(1..n)).find(|&step| gcd(step, n) == 1);
        // 1 is drawn some time.
        Self::Steps { n, start, step: step.unwrap_or(1) }
    }

    /// The number that comes at `place`, which is below how many there are.
    pub(super) fn at(self, place: u64) -> u64 {
        match self {
            Self::Identity => place,
            Self::Steps { n, start, step } => {
                let at = u128::from(start) + u128::from(place) * u128::from(step);
                // Less than `n`.
                (at % u128::from(n)) as u64
            }
        }
    }
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_order_has_every_number_once() {
        for n in [1, 2, 3, 8, 30, 97] {
            for seed in 0..20 {
                let order = Order::Shuffled(seed).of(n, 7);
                let mut numbers: Vec<u64> = (0..n).map(|place| order.at(place)).collect();
                numbers.sort_unstable();
                assert_eq!(numbers, (0..n).collect::<Vec<_>>(), "{order:?}");
            }
        }
    }

    #[test]
    fn seeds_part_neighbours_both_ways() {
        let place = |seed: u64, number: u64| {
            let order = Order::Shuffled(seed).of(64, 0);
            (0..64).find(|&place| order.at(place) == number)
        };
        let first: Vec<bool> = (0..16).map(|seed| place(seed, 12) < place(seed, 13)).collect();
        assert!(first.contains(&true) && first.contains(&false), "{first:?}");
    }

    #[test]
    fn numbered() {
        let order = Order::Numbered.of(5, 3);
        assert_eq!((0..5).map(|place| order.at(place)).collect::<Vec<_>>(), [0, 1, 2, 3, 4]);
    }
}
