//! What a launch costs: counts against worked examples, and against themselves.

mod counts;
mod kernels;
mod report;
mod sampled;
mod support;
#[path = "../common/textbook.rs"]
mod textbook;
