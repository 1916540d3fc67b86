//! Lowering, from text: the programs after each pass, the rules that every
//! program fulfils, the CUDA C++ that is written of them.

mod agree;
mod analyze;
mod fills;
mod golden;
mod guard;
mod halo;
mod in_step;
mod kernels;
mod once;
mod place;
mod rows;
mod slices;
mod space;
mod support;
mod text;
#[path = "../common/textbook.rs"]
mod textbook;
mod verify_program;
mod verify_vectors;
mod views;
mod walks;
