//! Lowering, from text: the programs after each pass, the rules that every
//! program fulfils, the CUDA C++ that is written of them.

mod agree;
mod analyze;
mod golden;
mod kernels;
mod slices;
mod space;
mod support;
mod verify_program;
mod verify_vectors;
