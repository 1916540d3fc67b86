//! How a tensor's elements lie in memory: what a program is specialised on.

/// How a tensor's elements lie.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub enum TensorLayout {
    /// Row-major without gaps, the first element aligned as vector accesses need it.
    #[default]
    RowMajor,
    /// As the strides say, one fact for each axis.
    Strided(Vec<StrideFact>),
}

/// What is known of a stride, in elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum StrideFact {
    /// It is 1, and the first element is aligned as vector accesses need it.
    One,
    /// It is 0: the axis repeats one element, or has no second one.
    Zero,
    /// The launch says it.
    Any {
        /// A power of two that divides it; 1 where the first element is not aligned
        /// as vector accesses need it.
        divisor: u32,
    },
}

impl TensorLayout {
    /// The layout without what only some launches of its kind have.
    #[must_use]
    pub fn weakened(&self) -> Self {
        let Self::Strided(facts) = self else { return Self::RowMajor };
        let weaker = facts.iter().map(|fact| match fact {
            StrideFact::Any { .. } => StrideFact::Any { divisor: 1 },
            StrideFact::One | StrideFact::Zero => *fact,
        });
        Self::Strided(weaker.collect())
    }

    /// Number of strides that a launch says.
    pub(super) fn n_arguments(&self) -> usize {
        let Self::Strided(facts) = self else { return 0 };
        facts.iter().filter(|fact| matches!(fact, StrideFact::Any { .. })).count()
    }

    /// Whether a program for `weaker` is valid where the elements lie so.
    pub fn implies(&self, weaker: &Self) -> bool {
        match (self, weaker) {
            (Self::RowMajor, Self::RowMajor) => true,
            (Self::Strided(facts), Self::Strided(weaker)) => {
                let implied = |(fact, weaker): (&StrideFact, &StrideFact)| match (fact, weaker) {
                    (StrideFact::Any { divisor }, StrideFact::Any { divisor: weaker }) => {
                        divisor.is_multiple_of(*weaker)
                    }
                    (fact, weaker) => fact == weaker,
                };
                facts.len() == weaker.len() && facts.iter().zip(weaker).all(implied)
            }
            (Self::RowMajor, Self::Strided(_)) | (Self::Strided(_), Self::RowMajor) => false,
        }
    }
}
