//! What cells of tiles, and elements of local arrays, hold: who has stored what, and when.

pub(super) mod arrays;
mod by_place;
pub(super) mod by_round;
pub(super) mod cells;
pub(super) mod cleared;
mod coming;
mod filled;
pub(super) mod floors;
mod handed;
pub(super) mod held;
pub(super) mod own_arrays;
pub(super) mod own_cells;
mod padded;
mod reached;
mod refilled;
pub(super) mod relayed;
pub(super) mod reread;
pub(super) mod rows;
mod same_slot;
pub(super) mod settings;
mod spared;
pub(super) mod spot;
pub(super) mod stored;
mod storer;
mod subscripts;
mod tabled;
