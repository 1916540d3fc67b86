//! Environment variables that say `on` or `off`.

use std::sync::OnceLock;

/// What launches do that say nothing themselves: as a variable says, read once per
/// process, else what debug builds do and others do not.
#[derive(Debug)]
pub(crate) struct Switch {
    variable: &'static str,
    found: OnceLock<bool>,
}

impl Switch {
    /// The switch of a variable.
    pub(crate) const fn new(variable: &'static str) -> Self {
        Self { variable, found: OnceLock::new() }
    }

    /// The variable's name.
    pub(crate) const fn variable(&self) -> &'static str {
        self.variable
    }

    /// Whether it is on.
    pub(crate) fn is_on(&self) -> bool {
        *self.found.get_or_init(|| match std::env::var(self.variable) {
            Err(_) => cfg!(debug_assertions),
            Ok(text) => self.parse(&text).unwrap_or_else(|complaint| {
                tracing::warn!("{complaint}");
                cfg!(debug_assertions)
            }),
        })
    }

    /// What a text says, or what is wrong with it.
    pub(crate) fn parse(&self, text: &str) -> Result<bool, String> {
        match text.trim().to_ascii_lowercase().as_str() {
            "on" => Ok(true),
            "off" => Ok(false),
            "" => Ok(cfg!(debug_assertions)),
            _ => {
                let variable = self.variable;
                Err(format!("{variable} is `{text}`; it is on or off: taken as not set"))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Switch;

    #[test]
    fn what_the_variable_may_say() {
        let switch = Switch::new("TILE_RECHECK");
        let default = Some(cfg!(debug_assertions));
        let cases =
            [("on", Some(true)), (" OFF", Some(false)), ("", default), ("1", None), ("yes", None)];
        for (text, expected) in cases {
            assert_eq!(switch.parse(text).ok(), expected, "`{text}`");
        }
    }
}
