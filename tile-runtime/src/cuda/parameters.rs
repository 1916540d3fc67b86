//! Arrays that a launch carries in its parameters.

use tile_ir::program::BufferSpace;

use crate::element::Element;
use crate::tensor::element_bytes;

const WORDS: usize = BufferSpace::PARAMETER_BYTES as usize / 8;

/// Room for as many bytes as a launch takes; the driver copies as many as the
/// kernel declares, from the first on.
#[derive(Clone, Debug)]
pub(crate) struct ParameterBlock(pub(super) [u64; WORDS]);

impl ParameterBlock {
    /// The elements, where they fit; what follows them is 0.
    pub(crate) fn holding<T: Element>(values: &[T]) -> Option<Box<Self>> {
        let bytes = element_bytes(values);
        let mut words = Box::new(Self([0; WORDS]));
        let (chunks, n_words) = (bytes.chunks(8), bytes.len().div_ceil(8));
        for (word, chunk) in words.0.get_mut(..n_words)?.iter_mut().zip(chunks) {
            let mut whole = [0; 8];
            whole[..chunk.len()].copy_from_slice(chunk);
            *word = u64::from_ne_bytes(whole);
        }
        Some(words)
    }
}

/// A parameter of a launch.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Parameter<'a> {
    /// An address or a number, in the low bytes.
    Word(u64),
    /// An array.
    Block(&'a ParameterBlock),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_stand_first() {
        let block = ParameterBlock::holding(&[1u16, 2, 3, 4, 5]).unwrap();
        assert_eq!(block.0[..3], [0x0004_0003_0002_0001, 5, 0]);
        assert!(ParameterBlock::holding(&[0u8; 4096]).is_some());
        assert!(ParameterBlock::holding(&[0u8; 4097]).is_none());
    }
}
