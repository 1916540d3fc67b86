//! Constraints, and what follows from them without a search.
//!
//! Equalities that define an unknown replace it; those that come apart are cut
//! ([`super::radix`], [`super::digits`]); what is left goes to the linear test
//! ([`super::linear`]).

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use super::super::algebra::formula::Formula;
use super::super::algebra::poly::{Monomial, Poly, Unknown};
use super::at_least::AtLeast;
use super::digits::{self, Bounds};
use super::linear::{self, Effort, Row};
use super::radix::{self, Cut};
use super::ranges::Ranges;
use super::sized::Asked;

/// Digits that get names.
const MAX_NAMED: usize = 8;

/// Products about which facts are derived, in one linear test.
const MAX_PRODUCTS: usize = 60;

/// What has no more values than this, as a coordinate within a block, bounds its products from
/// above too.
const MAX_FEW: i128 = 1 << 10;

/// Constraints that are to have no solution together.
#[derive(Clone, Debug, Default)]
pub(in super::super) struct System {
    /// Are 0. Used to replace unknowns as soon as one stands alone in them.
    pub(in super::super) facts: Vec<Poly>,
    /// Are 0 too. Kept whole while they have products, so that those can be
    /// split.
    collisions: Vec<Poly>,
    /// Are at least 0.
    pub(in super::super) at_least: AtLeast,
    /// Of each, one formula holds.
    pub(in super::super) choices: Vec<Vec<Formula>>,
    /// Pairs of naturals of which it is to be asked which one is larger.
    pub(in super::super) compared: Vec<[Poly; 2]>,
    pub(in super::super) contradictory: bool,
    /// Whether equalities have been combined.
    pub(in super::super) is_combined: bool,
    /// How many sizes have been shifted.
    pub(in super::super) shifted: usize,
    /// Where that is asked, the factors of which it has been asked whether they are positive.
    pub(in super::super) asked: Option<Asked>,
    /// What has replaced unknowns, where that is asked for.
    replaced: Option<Vec<(Unknown, Poly)>>,
    /// The digits that have names, where they are to have them.
    named: Option<BTreeSet<Unknown>>,
    /// Terms that were looked at to settle it.
    pub(in super::super) work: usize,
}

impl System {
    /// Adds a constraint. What is unknown says nothing.
    pub(in super::super) fn assert(&mut self, formula: &Formula) {
        match formula {
            Formula::True | Formula::Unknown => {}
            Formula::False => self.contradictory = true,
            Formula::AtLeast(poly) => self.assert_at_least(poly),
            Formula::Zero(poly) if poly.is_lost() => {}
            Formula::Zero(poly) => self.facts.push(poly.clone()),
            Formula::All(parts) => parts.iter().for_each(|part| self.assert(part)),
            Formula::Any(_) => match formula.replace(&|_| None) {
                Formula::Any(parts) if parts.contains(&Formula::Unknown) => {}
                Formula::Any(parts) => match parts.as_slice() {
                    [only] => self.assert(only),
                    _ => self.choices.push(parts),
                },
                folded @ (Formula::True
                | Formula::False
                | Formula::Unknown
                | Formula::AtLeast(_)
                | Formula::Zero(_)
                | Formula::All(_)) => self.assert(&folded),
            },
        }
    }

    /// Adds that `left` and `right`, which are indices of one axis, are equal.
    pub(in super::super) fn assert_collision(&mut self, left: &Poly, right: &Poly) {
        let difference = left.sub(right);
        if !difference.is_lost() {
            self.collisions.push(difference);
        }
    }

    /// An unknown that nothing speaks of.
    pub(in super::super) fn unused(&self) -> Option<Unknown> {
        let highest = self.zeros().chain(self.at_least.iter()).flat_map(Poly::unknowns).max();
        let mut others = Vec::new();
        self.choices.iter().flatten().for_each(|part| part.collect_unknowns(&mut others));
        others.extend(self.compared.iter().flatten().flat_map(Poly::unknowns));
        others.into_iter().chain(highest).max()?.checked_add(1)
    }

    /// The same system, which from here on remembers what replaces unknowns.
    pub(in super::super) fn recorded(&self) -> Self {
        Self { replaced: Some(Vec::new()), ..self.clone() }
    }

    /// What has replaced unknowns, in order.
    pub(in super::super) fn replaced(&self) -> &[(Unknown, Poly)] {
        self.replaced.as_deref().unwrap_or_default()
    }

    /// The same system, in which what is equal by the meeting is put in wherever an unknown
    /// stands alone in it, as facts are.
    pub(in super::super) fn with_plain_equalities(&self) -> Self {
        let mut system = self.clone();
        system.facts.append(&mut system.collisions);
        system
    }

    /// Leaves out the constraints of which not all is so, choices among them.
    pub(in super::super) fn retain(&mut self, is_kept: &dyn Fn(&Poly) -> bool) {
        self.facts.retain(is_kept);
        self.collisions.retain(is_kept);
        self.at_least.retain(is_kept);
        self.choices.retain(|parts| parts.iter().all(|part| part.is_made_of(is_kept)));
        self.compared.retain(|pair| pair.iter().all(is_kept));
    }

    /// Gives an unknown its value.
    pub(in super::super) fn set(&mut self, unknown: Unknown, value: i128) {
        self.replace(unknown, &Poly::constant(value));
    }

    /// The unknowns that constraints speak of.
    pub(in super::super) fn unknowns(&self) -> BTreeSet<Unknown> {
        self.zeros().chain(self.at_least.iter()).flat_map(Poly::unknowns).collect()
    }

    /// Between which numbers unknowns lie, by equalities too.
    pub(in super::super) fn exact_ranges(&self) -> Ranges {
        let zeros = self.zeros().flat_map(|zero| [zero.clone(), zero.negated()]);
        let rows: Vec<Poly> = self.at_least.iter().cloned().chain(zeros).collect();
        Ranges::of(rows.iter())
    }

    /// The same system, in which values that lie between 0 and a size are unknowns
    /// of their own, as they come up; `None` where there is none to name.
    pub(in super::super) fn with_digits(&self) -> Option<Self> {
        let mut system = self.clone();
        system.named = Some(BTreeSet::new());
        // Before equalities replace what is made of digits, and after.
        system.name_digits();
        while system.prune() {}
        system.settle();
        system.name_digits();
        let is_named = system.named.as_ref().is_some_and(|named| !named.is_empty());
        (is_named || system.choices.iter().flatten().any(Formula::bounds_products))
            .then_some(system)
    }

    /// Names the digits that constraints speak of, where they are to have names. Whether
    /// there was one.
    pub(in super::super) fn name_digits(&mut self) -> bool {
        let Some(mut named) = self.named.take() else { return false };
        let before = named.len();
        while named.len() < MAX_NAMED
            && let Some((unknown, value)) = digits::to_name(&self.at_least, &named)
            && let Some(digit) = self.unused()
        {
            named.insert(digit);
            // value = digit, so the unknown is what is left of it.
            let rest = value.sub(&Poly::unknown(unknown));
            self.replace(unknown, &Poly::unknown(digit).sub(&rest));
        }
        let is_new = named.len() > before;
        self.named = Some(named);
        is_new
    }

    pub(in super::super) fn assert_at_least(&mut self, poly: &Poly) {
        match poly.as_constant() {
            Some(value) => self.contradictory |= value < 0,
            None if poly.is_lost() => {}
            None => {
                self.at_least.insert(poly.clone());
            }
        }
    }

    /// What is 0.
    pub(in super::super) fn zeros(&self) -> impl Iterator<Item = &Poly> {
        self.collisions.iter().chain(&self.facts)
    }

    /// Replaces unknowns by what equalities say of them, until there is none to
    /// replace.
    pub(in super::super) fn settle(&mut self) {
        while !self.contradictory {
            self.work += self.size();
            self.drop_decided();
            if self.cut_equality() || self.cut_digits() {
                continue;
            }
            if let Some((unknown, value)) = self.definition() {
                self.replace(unknown, &value);
                continue;
            }
            if self.is_out_of_range() {
                self.contradictory = true;
                return;
            }
            let divided = self.at_least.divided(self.named.is_some());
            self.work += divided.uses;
            if divided.rows.is_empty() || self.is_beyond_tests() {
                return;
            }
            divided.rows.iter().for_each(|row| self.assert_at_least(row));
        }
    }

    /// What an equality says of an unknown.
    fn definition(&self) -> Option<(Unknown, Poly)> {
        let linear = self.collisions.iter().filter(|poly| poly.is_linear());
        self.facts.iter().chain(linear).find_map(|poly| {
            let found = definition(poly)?;
            (poly.is_linear() || !self.is_awaited(found.0)).then_some(found)
        })
    }

    /// Whether some choice has a sum with products that an unknown is: of two such sums it is to
    /// be seen that they are one value, where factors are asked about.
    fn is_awaited(&self, unknown: Unknown) -> bool {
        if self.asked.is_none() {
            return false;
        }
        let mut zeros = Vec::new();
        self.choices.iter().flatten().for_each(|part| part.collect_zeros(&mut zeros));
        zeros.iter().any(|zero| !zero.is_linear() && zero.mentions(unknown))
    }

    /// What has been done to it since this was asked last.
    pub(in super::super) fn take_work(&mut self) -> usize {
        std::mem::take(&mut self.work)
    }

    /// Cuts an equality into its digits, if there is one that comes apart.
    fn cut_equality(&mut self) -> bool {
        if !self.zeros().any(radix::is_candidate) {
            return false;
        }
        let ranges = self.ranges();
        for zeros in [&mut self.collisions, &mut self.facts] {
            let found = zeros.iter().enumerate().find_map(|(at, poly)| {
                let cut = if radix::is_candidate(poly) { radix::cut(poly, &ranges) } else { None };
                Some((at, cut?))
            });
            let Some((at, cut)) = found else { continue };
            match cut {
                Cut::Never => self.contradictory = true,
                Cut::Cases(cases) => {
                    zeros.remove(at);
                    match <[(Poly, Poly); 1]>::try_from(cases) {
                        Ok([(light, heavy)]) => zeros.extend([light, heavy]),
                        Err(cases) => self.choices.push(
                            cases
                                .into_iter()
                                .map(|(light, heavy)| {
                                    Formula::All(vec![Formula::Zero(light), Formula::Zero(heavy)])
                                })
                                .collect(),
                        ),
                    }
                }
            }
            return true;
        }
        false
    }

    /// Cuts an equality of products into digits, if there is one that comes apart.
    fn cut_digits(&mut self) -> bool {
        if self.zeros().all(Poly::is_linear) {
            return false;
        }
        let (ranges, bounds) = (self.ranges(), self.at_least.bounds());
        let is_cut = [&mut self.collisions, &mut self.facts].into_iter().any(|zeros| {
            for zero in zeros.iter_mut().filter(|poly| !poly.is_linear()) {
                if let Some(rest) = digits::without_factor(zero, &ranges) {
                    *zero = rest;
                }
            }
            let mut products = zeros.iter().enumerate().filter(|(_, poly)| !poly.is_linear());
            let found =
                products.find_map(|(at, poly)| Some((at, digits::cut(poly, &ranges, &bounds)?)));
            found.is_some_and(|(at, (light, heavy))| {
                zeros.remove(at);
                zeros.extend([light, heavy]);
                true
            })
        });
        self.work += bounds.take_uses();
        is_cut
    }

    /// Whether some equality of products cannot hold, by what unknowns in them are at least
    /// and at most, by others.
    pub(in super::super) fn is_beyond_zero(&self, effort: &Effort) -> bool {
        let linear = self.at_least.iter().filter(|row| row.is_linear());
        let (ranges, bounds) = (self.ranges(), Bounds::of(linear));
        let is_beyond = self.zeros().filter(|zero| !zero.is_linear()).any(|zero| {
            let mut sides = [zero.clone(), zero.negated()].into_iter();
            sides.any(|side| digits::is_less(&side, &Poly::default(), &ranges, &bounds))
        });
        effort.spend(bounds.take_uses()) && is_beyond
    }

    /// Between which numbers unknowns lie.
    pub(in super::super) fn ranges(&self) -> Rc<Ranges> {
        self.at_least.ranges()
    }

    /// Removes `0 = 0`, and finds what cannot be 0.
    fn drop_decided(&mut self) {
        for poly in self.facts.iter_mut().chain(&mut self.collisions) {
            let content = poly.content();
            let divides = content == 0 || poly.constant_term() % content == 0;
            self.contradictory |= !divides || poly.as_constant().is_some_and(|value| value != 0);
            if divides && content > 1 {
                *poly = poly.divided(content);
            }
        }
        self.facts.retain(|poly| poly.as_constant().is_none() && !poly.is_lost());
        self.collisions.retain(|poly| poly.as_constant().is_none() && !poly.is_lost());
    }

    /// Puts a value in for an unknown.
    pub(in super::super) fn replace(&mut self, unknown: Unknown, value: &Poly) {
        let with = |other: Unknown| (other == unknown).then(|| value.clone());
        // Two sums with products are one value, as the indices of a collision are.
        let is_asked = self.asked.is_some() && !value.is_linear();
        let compares = |poly: &mut Poly| {
            let is_other = || definition(poly).is_some_and(|(of, _)| of == unknown);
            is_asked && !poly.is_linear() && poly.mentions(unknown) && is_other()
        };
        self.collisions.extend(self.facts.extract_if(.., compares));
        for poly in self.facts.iter_mut().chain(&mut self.collisions) {
            if poly.mentions(unknown) {
                *poly = poly.replace(&with);
            }
        }
        let changed = self.at_least.take_of(unknown);
        changed.iter().for_each(|poly| self.assert_at_least(&poly.replace(&with)));
        for poly in self.compared.iter_mut().flatten() {
            if poly.mentions(unknown) {
                *poly = poly.replace(&with);
            }
        }
        if let Some(replaced) = &mut self.replaced {
            replaced.push((unknown, value.clone()));
        }
        for choice in std::mem::take(&mut self.choices) {
            let choice: Vec<Formula> = choice.iter().map(|part| part.replace(&with)).collect();
            self.assert(&Formula::Any(choice));
        }
    }

    /// Whether it has more bounds than the linear test looks at: further ones that follow
    /// from them show nothing.
    pub(in super::super) fn is_beyond_tests(&self) -> bool {
        self.at_least.len() > linear::MAX_ROWS
    }

    /// How many terms it has, but for its choices: what a step on it takes.
    pub(in super::super) fn size(&self) -> usize {
        self.zeros().chain(self.at_least.iter()).map(|poly| poly.terms().len()).sum()
    }

    /// The products of two and more unknowns.
    pub(in super::super) fn products(&self) -> BTreeSet<&Monomial> {
        let polys = self.zeros().chain(self.at_least.iter());
        polys
            .flat_map(|poly| poly.terms())
            .filter(|(product, _)| product.len() > 1)
            .map(|(product, _)| product)
            .collect()
    }

    /// Whether the constraints without choices have no solution, each product
    /// taken for an unknown of its own.
    pub(in super::super) fn is_linearly_empty(&self, effort: &Effort) -> bool {
        let (zero, at_least) = self.rows();
        linear::is_empty(zero, at_least, effort)
    }

    /// The same for numbers that need not be whole.
    pub(in super::super) fn is_empty_of_fractions(&self, effort: &Effort) -> bool {
        let (zero, at_least) = self.rows();
        linear::is_empty_of_fractions(zero, at_least, effort)
    }

    /// What is 0, and what is at least 0, each product taken for an unknown of its own.
    fn rows(&self) -> (Vec<Row>, Vec<Row>) {
        let mut columns: BTreeMap<Monomial, usize> = BTreeMap::new();
        let mut row = |poly: &Poly| {
            let mut row = Row { factors: Vec::new(), constant: poly.constant_term() };
            for (product, factor) in poly.terms() {
                if !product.is_empty() {
                    let count = columns.len();
                    let column = *columns.entry(*product).or_insert(count);
                    row.factors.push((column, *factor));
                }
            }
            row.factors.sort_unstable();
            row
        };
        let zero = self.zeros().map(&mut row).collect();
        let mut at_least: Vec<Row> = self.at_least.iter().map(&mut row).collect();
        at_least.extend(self.product_bounds().iter().map(&mut row));
        (zero, at_least)
    }

    /// Of products of unknowns that are not negative: what they are at least, and
    /// `x * rest >= low * rest` where `x >= low`.
    fn product_bounds(&self) -> Vec<Poly> {
        let bounds = self.ranges();
        let is_natural =
            |product: &Monomial| product.iter().all(|u| bounds.low(*u).is_some_and(|low| low >= 0));
        let mut open: Vec<Monomial> =
            self.products().into_iter().filter(|product| is_natural(product)).copied().collect();
        let mut seen: BTreeSet<Monomial> = open.iter().copied().collect();
        let mut out = Vec::new();
        while let Some(product) = open.pop() {
            let whole = Poly::product(product);
            let mut lows = product.iter().map(|unknown| bounds.low(*unknown).unwrap_or(0));
            let least = lows.try_fold(1_i128, |all, low| all.checked_mul(low)).unwrap_or(0);
            out.push(whole.plus(least.saturating_neg()));
            for (at, unknown) in product.iter().enumerate() {
                let low = bounds.low(*unknown).unwrap_or(0);
                if low < 1 || (at > 0 && product[at - 1] == *unknown) {
                    continue;
                }
                let mut rest = product;
                rest.remove(at);
                out.push(whole.sub(&Poly::product(rest).scaled(low)));
                if rest.len() > 1 && seen.len() < MAX_PRODUCTS && seen.insert(rest) {
                    open.push(rest);
                }
            }
        }
        out.retain(|poly| !poly.is_lost());
        out
    }

    /// Adds what products are at most of which a factor has few values; whether there is one.
    pub(in super::super) fn bound_products(&mut self) -> bool {
        let bounds = self.ranges();
        let is_natural = |unknown: Unknown| bounds.low(unknown).is_some_and(|low| low >= 0);
        let most = |product: &Monomial| {
            let [one, other] = *product.as_slice() else { return None };
            let most = |few: Unknown, rest: Unknown| {
                let high = bounds.get(few).high.filter(|high| *high <= MAX_FEW)?;
                let rest = Poly::unknown(rest).scaled(high);
                Some(rest.sub(&Poly::product(*product)))
            };
            let is_natural = is_natural(one) && is_natural(other);
            is_natural.then(|| most(one, other).or_else(|| most(other, one))).flatten()
        };
        let found: Vec<Poly> = self.products().into_iter().filter_map(most).collect();
        let before = self.at_least.len();
        found.iter().for_each(|row| self.assert_at_least(row));
        self.at_least.len() > before
    }

    /// The cofactors that may be split, without common factors: of unknowns in
    /// products of equalities, those that may have either sign.
    pub(in super::super) fn splits(&self) -> Vec<Poly> {
        let ranges = self.asked.is_some().then(|| self.ranges());
        let mut out: Vec<Poly> = Vec::new();
        for poly in self.zeros() {
            let products = poly.terms().iter().filter(|(product, _)| product.len() > 1);
            let unknowns: BTreeSet<Unknown> =
                products.flat_map(|(product, _)| product.iter().copied()).collect();
            for unknown in unknowns {
                let own = Poly::unknown(unknown);
                let is_signed = |ranges: &Ranges| ranges.low(unknown).is_some_and(|low| low >= 0);
                if !ranges.as_deref().is_none_or(is_signed) && !out.contains(&own) {
                    out.push(own);
                }
                let split = poly.cofactor(unknown).primitive();
                let factors = split.terms().iter().map(|(_, factor)| *factor);
                let one_sign = factors.clone().all(|f| f > 0) || factors.clone().all(|f| f < 0);
                // Where it is asked, what may be negative itself has no sign by its factors.
                let is_open = ranges.as_ref().is_some_and(|ranges| {
                    let range = ranges.of_poly(&split);
                    split.terms().len() > 1 && range.low.is_none_or(|low| low < 0)
                });
                if split.is_lost() || one_sign && !is_open {
                    continue;
                }
                if !out.contains(&split) && !out.contains(&split.negated()) {
                    out.push(split);
                }
            }
        }
        out
    }

    /// The naturals that equalities multiply and that may be 0, where factors are asked about: of
    /// `r = q * (2*h - 1)` with `0 < r < h` no sign is open, yet it matters whether `q` is 0.
    pub(in super::super) fn vanishing(&self) -> Vec<Poly> {
        if self.asked.is_none() {
            return Vec::new();
        }
        let ranges = self.ranges();
        let products = self.zeros().flat_map(|zero| zero.terms());
        let factors: BTreeSet<Unknown> = products
            .filter(|(product, _)| product.len() > 1)
            .flat_map(|(product, _)| product.iter().copied())
            .filter(|factor| ranges.low(*factor) == Some(0))
            .collect();
        factors.into_iter().map(Poly::unknown).collect()
    }

    /// The case `at least 1` of a split.
    pub(in super::super) fn with_positive(&self, split: &Poly) -> Self {
        let mut case = self.clone();
        let slack = split.plus(-1);
        case.assert_at_least(&slack);
        let bounds = self.ranges();
        let in_split: BTreeSet<Unknown> = split.unknowns().collect();
        let mut partners: BTreeSet<Monomial> = BTreeSet::new();
        for product in self.products() {
            for (at, unknown) in product.iter().enumerate() {
                if in_split.contains(unknown) {
                    let mut rest = *product;
                    rest.remove(at);
                    partners.insert(rest);
                }
            }
        }
        for partner in partners {
            if case.is_beyond_tests() {
                break;
            }
            let lows: Option<Vec<i128>> =
                partner.iter().map(|u| bounds.low(*u).filter(|low| *low >= 0)).collect();
            // Alone, an unknown is taken from its lower bound on, which says more.
            let natural = match (partner.as_slice(), lows.as_deref()) {
                ([unknown], Some([low])) => Poly::unknown(*unknown).plus(-low),
                (_, Some(_)) => Poly::product(partner),
                (_, None) => continue,
            };
            case.assert_at_least(&slack.mul(&natural));
        }
        case
    }

    /// Whether a choice is about the sign of an unknown that equalities multiply: what is
    /// said of its partners before that says nothing of the products.
    pub(in super::super) fn decides_sign(&self, parts: &[Formula]) -> bool {
        let of_one = |part: &Formula| {
            let Formula::AtLeast(poly) = part else { return None };
            let mut terms = poly.terms().iter().filter(|(product, _)| !product.is_empty());
            match (terms.next().map(|(product, _)| product.as_slice()), terms.next()) {
                (Some([unknown]), None) => Some(*unknown),
                _ => None,
            }
        };
        let Some(unknown) = parts.first().and_then(of_one) else { return false };
        parts.iter().all(|part| of_one(part) == Some(unknown))
            && self
                .zeros()
                .flat_map(|zero| zero.terms())
                .any(|(product, _)| product.len() > 1 && product.contains(&unknown))
    }

    /// The same system in one case of a choice. One that says which of two unknowns is
    /// larger says so of their products too, where an equality has both times the
    /// same, or bounds do.
    pub(in super::super) fn in_case(&self, part: &Formula) -> Self {
        if let Formula::AtLeast(gap) = part
            && let [(none, -1), (one, 1 | -1), (other, 1 | -1)] = gap.terms()
            && let ([], [one], [other]) = (none.as_slice(), one.as_slice(), other.as_slice())
        {
            let partner = |product: &Monomial, unknown: Unknown| {
                let at = product.iter().position(|own| *own == unknown)?;
                let mut rest = *product;
                rest.remove(at);
                (!rest.is_empty()).then_some(rest)
            };
            let are_common = |products: &[Monomial]| {
                let of = |unknown| products.iter().filter_map(move |m| partner(m, unknown));
                of(*one).any(|rest| of(*other).any(|theirs| rest == theirs))
            };
            let products = |poly: &Poly| poly.terms().iter().map(|(m, _)| *m).collect::<Vec<_>>();
            // Where equalities have replaced all that they are made of, or do not multiply the
            // two, bounds have them.
            let multiplies = |zero: &Poly| {
                let mut products = zero.terms().iter().filter(|(product, _)| product.len() > 1);
                products.any(|(product, _)| product.contains(one) || product.contains(other))
            };
            let is_settled = !self.zeros().any(multiplies);
            let bounds = self.at_least.iter().filter(|_| is_settled).flat_map(products);
            if self.zeros().any(|zero| are_common(&products(zero)))
                || are_common(&bounds.collect::<Vec<_>>())
            {
                return self.with_positive(&gap.plus(1));
            }
        }
        let mut case = self.clone();
        case.assert(part);
        case
    }

    /// The case `0` of a split.
    pub(in super::super) fn with_zero(&self, split: &Poly) -> Self {
        let mut case = self.clone();
        // The cofactor's products vanish from the equalities that have them.
        for poly in &mut case.collisions {
            for unknown in poly.unknowns().collect::<BTreeSet<_>>() {
                let cofactor = poly.cofactor(unknown);
                if [split.clone(), split.negated()].contains(&cofactor.primitive()) {
                    *poly = poly.sub(&cofactor.mul(&Poly::unknown(unknown)));
                }
            }
        }
        case.collisions.retain(|poly| !poly.is_lost());
        case.collisions.push(split.clone());
        case
    }

    /// Whether a split's sign is among the constraints.
    pub(in super::super) fn is_decided(&self, split: &Poly) -> bool {
        self.at_least.contains(&split.plus(-1))
            || self.at_least.contains(&split.negated().plus(-1))
            || self.zeros().any(|poly| *poly == *split || *poly == split.negated())
    }
}

/// The unknown that an equality defines: it has the factor 1 or -1 and stands
/// nowhere else in it.
fn definition(poly: &Poly) -> Option<(Unknown, Poly)> {
    let single = poly.terms().iter().rev().find_map(|(product, factor)| match product.as_slice() {
        [unknown]
            if factor.unsigned_abs() == 1
                && poly.unknowns().filter(|other| other == unknown).count() == 1 =>
        {
            Some((*unknown, *factor))
        }
        _ => None,
    });
    let (unknown, factor) = single?;
    // factor * unknown + rest = 0, so unknown = -factor * rest.
    let rest = poly.sub(&Poly::unknown(unknown).scaled(factor));
    let value = rest.scaled(-factor);
    (!value.is_lost()).then_some((unknown, value))
}
