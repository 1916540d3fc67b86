//! What is spent on each choice of tile sizes.

/// What each choice of tile sizes may spend, so that none takes the turn of the others.
pub(super) struct Turns {
    /// Choices that have not had theirs.
    left: u32,
    enough: u32,
    /// Most of that for one.
    most: u32,
    /// Whose turn it is, and what had been spent when it began.
    tiles: Option<Vec<Option<i64>>>,
    begun: u32,
    share: u32,
}

impl Turns {
    /// Of so many choices, which have so much together.
    pub(super) fn of(choices: usize, enough: u32) -> Self {
        let most = if choices > 1 { enough / 3 } else { enough };
        let left = u32::try_from(choices).unwrap_or(u32::MAX);
        Self { left, enough, most, tiles: None, begun: 0, share: 0 }
    }

    /// Whether the turn of tile sizes is over, where so much has been spent.
    pub(super) fn is_over(&mut self, tiles: Vec<Option<i64>>, spent: u32) -> bool {
        if self.tiles.as_ref() != Some(&tiles) {
            let rest = self.enough.saturating_sub(spent);
            self.share = (rest / self.left.max(1)).min(self.most);
            self.left = self.left.saturating_sub(1);
            (self.tiles, self.begun) = (Some(tiles), spent);
        }
        spent - self.begun > self.share
    }
}
