//! Exact fractions of 128 bits, which are nothing where they do not fit.

use super::poly::gcd;

/// `over / under`, in lowest terms; `under` is positive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) struct Fraction {
    over: i128,
    under: i128,
}

impl Default for Fraction {
    fn default() -> Self {
        Self::whole(0)
    }
}

impl Fraction {
    pub(in super::super) const fn whole(number: i128) -> Self {
        Self { over: number, under: 1 }
    }

    fn lowest(over: i128, under: i128) -> Option<Self> {
        let divisor = gcd(over, under);
        let sign = under.signum();
        Some(Self {
            over: over.checked_div(divisor)?.checked_mul(sign)?,
            under: under.checked_div(divisor)?.checked_mul(sign)?,
        })
    }

    pub(in super::super) fn is_zero(self) -> bool {
        self.over == 0
    }

    pub(in super::super) fn is_positive(self) -> bool {
        self.over > 0
    }

    /// The number, where it is whole.
    pub(in super::super) fn whole_number(self) -> Option<i128> {
        (self.under == 1).then_some(self.over)
    }

    /// The whole number next below it, or itself.
    pub(in super::super) fn floor(self) -> i128 {
        self.over.div_euclid(self.under)
    }

    /// Whether it is less than a whole number.
    pub(in super::super) fn is_below(self, number: i128) -> bool {
        self.floor() < number
    }

    /// Whether it is more than a whole number.
    pub(in super::super) fn is_above(self, number: i128) -> bool {
        let (whole, rest) = (self.over.div_euclid(self.under), self.over.rem_euclid(self.under));
        whole > number || whole == number && rest > 0
    }

    pub(in super::super) fn minus(self, other: Self) -> Option<Self> {
        self.plus_product(other, Self::whole(-1))
    }

    /// By what is not 0.
    pub(in super::super) fn over(self, other: Self) -> Option<Self> {
        if other.under == 1 && (other.over == 1 || other.over == -1) {
            return Some(Self { over: self.over.checked_mul(other.over)?, under: self.under });
        }
        Self::lowest(self.over.checked_mul(other.under)?, self.under.checked_mul(other.over)?)
    }

    /// `self + one * other`
    pub(in super::super) fn plus_product(self, one: Self, other: Self) -> Option<Self> {
        let over = one.over.checked_mul(other.over)?;
        if self.under == 1 && one.under == 1 && other.under == 1 {
            return Some(Self::whole(self.over.checked_add(over)?));
        }
        let under = one.under.checked_mul(other.under)?;
        let sum = self.over.checked_mul(under)?.checked_add(over.checked_mul(self.under)?)?;
        Self::lowest(sum, self.under.checked_mul(under)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fractions_are_exact() {
        let third = Fraction::whole(1).over(Fraction::whole(3)).unwrap();
        let sum = third.plus_product(third, Fraction::whole(2)).unwrap();
        assert_eq!(sum, Fraction::whole(1));
        assert_eq!(third.over(Fraction::whole(-1)), Fraction::whole(-1).over(Fraction::whole(3)));
        assert_eq!(third.minus(third), Some(Fraction::default()));
        assert!(third.is_above(0) && third.is_below(1));
        assert!(!Fraction::whole(1).is_below(1) && !Fraction::whole(1).is_above(1));
        assert!(Fraction::default().minus(third).unwrap().is_below(0));
    }

    #[test]
    fn what_does_not_fit_is_nothing() {
        let large = Fraction::whole(i128::MAX);
        assert_eq!(large.plus_product(large, large), None);
        assert_eq!(large.plus_product(Fraction::whole(1), Fraction::whole(1)), None);
    }
}
