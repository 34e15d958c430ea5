//! `server`: what a notebook asks of its server.

use super::super::model::ServerNeeds;
use super::super::wire::{self, Text};
use super::Convert;
use super::names::Scope;

/// Settings that say where a server listens and where its data lies: Planbook's own to decide.
const PLANBOOKS: [&str; 4] = ["data_directory", "listen_addresses", "port", "unix_socket_directories"];

impl Convert<'_> {
    pub(super) fn server(&self, wire: &wire::Server) -> ServerNeeds {
        let mut needs = ServerNeeds {
            service: wire.service.and_then(|service| self.text(service)),
            memory: wire.memory.and_then(|memory| self.memory(memory)),
            fresh: self.switch(wire.fresh, false),
            ..ServerNeeds::default()
        };
        let Some(settings) = &wire.settings else { return needs };
        // The names are checked as those of session settings are; the values are known before the server starts.
        let known = self.settings(settings, Scope::Params);
        for (name, value) in &settings.0 {
            let text = self.reader.tree.text(name.0);
            if PLANBOOKS.contains(&text) {
                let message = format!("`{text}` is Planbook's own to decide");
                self.reader.fault(self.reader.tree.place(name.0), message, "leave it out");
            } else if known.contains_key(text)
                && let Some(value) = self.rendered(value.0)
            {
                needs.settings.insert(text.to_owned(), value);
            }
        }
        needs
    }

    /// A size such as `8gb`, as compose.yaml writes it.
    fn memory(&self, memory: Text) -> Option<String> {
        let text = self.text(memory)?;
        let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
        let unit = text[digits..].to_ascii_lowercase();
        if digits > 0 && ["b", "k", "kb", "m", "mb", "g", "gb"].contains(&unit.as_str()) {
            return Some(text);
        }
        let message = format!("`{text}` is not a size of memory");
        self.reader.fault(self.reader.tree.place(memory.0), message, "write it like 512m or 8gb");
        None
    }
}
