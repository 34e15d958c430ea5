//! Which EXPLAIN options a capture uses.

use super::SessionError;
use crate::notebook::ExplainKeys;

/// The options of EXPLAIN for a capture. ANALYZE is always on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExplainOptions {
    /// BUFFERS.
    pub buffers: bool,
    /// WAL.
    pub wal: bool,
    /// SETTINGS.
    pub settings: bool,
    /// TIMING: the clock readings of each node.
    pub timing: bool,
    /// VERBOSE.
    pub verbose: bool,
    /// SERIALIZE, from PostgreSQL 17 on.
    pub serialize: bool,
    /// MEMORY, from PostgreSQL 17 on.
    pub memory: bool,
}

impl Default for ExplainOptions {
    fn default() -> Self {
        Self {
            buffers: true,
            wal: true,
            settings: true,
            timing: true,
            verbose: false,
            serialize: false,
            memory: false,
        }
    }
}

impl From<ExplainKeys> for ExplainOptions {
    fn from(keys: ExplainKeys) -> Self {
        Self { timing: keys.timing, verbose: keys.verbose, wal: keys.wal, ..Self::default() }
    }
}

impl ExplainOptions {
    /// `EXPLAIN (…) `, for a server of that version; `json` asks for FORMAT JSON.
    pub(super) fn prefix(self, version: u32, json: bool) -> Result<String, SessionError> {
        let major = version / 10_000;
        for (wanted, option) in [(self.serialize, "SERIALIZE"), (self.memory, "MEMORY")] {
            if wanted && major < 17 {
                return Err(SessionError::TooOld { option, needs: 17, has: major });
            }
        }
        // Those that default to on with ANALYZE (BUFFERS only from 18) are written out when off.
        let options = [
            (true, "ANALYZE"),
            (self.buffers, "BUFFERS"),
            (!self.buffers, "BUFFERS OFF"),
            (self.wal, "WAL"),
            (self.settings, "SETTINGS"),
            (!self.timing, "TIMING OFF"),
            (self.verbose, "VERBOSE"),
            (self.serialize, "SERIALIZE"),
            (self.memory, "MEMORY"),
            (json, "FORMAT JSON"),
        ];
        let options: Vec<&str> =
            options.iter().filter(|(wanted, _)| *wanted).map(|(_, name)| *name).collect();
        Ok(format!("EXPLAIN ({}) ", options.join(", ")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_written_as_explain_takes_them() {
        let options = ExplainOptions::default();
        assert_eq!(options.prefix(150_018, false).unwrap(), "EXPLAIN (ANALYZE, BUFFERS, WAL, SETTINGS) ");
        let options = ExplainOptions { timing: false, buffers: false, serialize: true, ..options };
        assert_eq!(
            options.prefix(180_006, true).unwrap(),
            "EXPLAIN (ANALYZE, BUFFERS OFF, WAL, SETTINGS, TIMING OFF, SERIALIZE, FORMAT JSON) "
        );
        assert!(matches!(options.prefix(160_014, false), Err(SessionError::TooOld { has: 16, .. })));
    }
}
