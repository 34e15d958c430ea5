//! TLS, as libpq's `sslmode` says.

use std::io;
use std::net::TcpStream;
use std::path::PathBuf;
use std::str::FromStr;
use std::sync::Arc;

use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{
    CertificateError, ClientConfig, ClientConnection, DigitallySignedStruct, Error, RootCertStore,
    SignatureScheme, StreamOwned,
};

use super::SessionError;

/// How far a connection must be encrypted and the server known; the words are libpq's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum SslMode {
    /// Not at all.
    #[default]
    Disable,
    /// Where the server insists.
    Allow,
    /// Where the server can.
    Prefer,
    /// Always; whoever the server is.
    Require,
    /// Always, with a certificate that a trusted root vouches for.
    VerifyCa,
    /// The same, and the certificate must bear the host's name.
    VerifyFull,
}

/// Whose certificates are trusted.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum TrustedRoots {
    /// Those of this machine.
    #[default]
    System,
    /// Those of a PEM file.
    File(PathBuf),
}

/// Whether and how a connection is encrypted.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Tls {
    /// How far.
    pub mode: SslMode,
    /// Whom to trust, in the two modes that verify.
    pub roots: TrustedRoots,
}

/// One attempt to connect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Encryption {
    None,
    IfOffered,
    Required,
}

impl SslMode {
    /// What is tried, in order.
    pub(super) fn attempts(self) -> &'static [Encryption] {
        match self {
            Self::Disable => &[Encryption::None],
            Self::Allow => &[Encryption::None, Encryption::Required],
            Self::Prefer => &[Encryption::IfOffered, Encryption::None],
            Self::Require | Self::VerifyCa | Self::VerifyFull => &[Encryption::Required],
        }
    }
}

impl FromStr for SslMode {
    type Err = String;

    fn from_str(word: &str) -> Result<Self, String> {
        Ok(match word {
            "disable" => Self::Disable,
            "allow" => Self::Allow,
            "prefer" => Self::Prefer,
            "require" => Self::Require,
            "verify-ca" => Self::VerifyCa,
            "verify-full" => Self::VerifyFull,
            _ => {
                return Err(format!(
                    "sslmode `{word}` is not one of disable, allow, prefer, require, verify-ca, verify-full"
                ));
            }
        })
    }
}

/// Encrypts a connection whose server has agreed to it.
pub(super) fn handshake(
    mut stream: TcpStream,
    host: &str,
    tls: &Tls,
) -> Result<StreamOwned<ClientConnection, TcpStream>, SessionError> {
    let fail = |error: &dyn std::fmt::Display| SessionError::Tls(error.to_string());
    let name = ServerName::try_from(host.to_owned()).map_err(|error| fail(&error))?;
    let provider = Arc::new(ring::default_provider());
    let verifier = Verifier::new(tls, provider.clone()).map_err(SessionError::Tls)?;
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| fail(&error))?
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(verifier))
        .with_no_client_auth();
    let mut connection = ClientConnection::new(Arc::new(config), name).map_err(|error| fail(&error))?;
    while connection.is_handshaking() {
        connection.complete_io(&mut stream).map_err(|error: io::Error| fail(&error))?;
    }
    Ok(StreamOwned::new(connection, stream))
}

/// Checks the server's certificate as far as the mode asks.
#[derive(Debug)]
struct Verifier {
    provider: Arc<CryptoProvider>,
    /// None in the modes that trust any certificate.
    chain: Option<Arc<WebPkiServerVerifier>>,
    /// A server may show a root itself: its own, signed by itself.
    roots: Vec<CertificateDer<'static>>,
    check_name: bool,
}

impl Verifier {
    fn new(tls: &Tls, provider: Arc<CryptoProvider>) -> Result<Self, String> {
        let check_name = tls.mode == SslMode::VerifyFull;
        if tls.mode < SslMode::VerifyCa {
            return Ok(Self { provider, chain: None, roots: Vec::new(), check_name });
        }
        let roots = match &tls.roots {
            TrustedRoots::System => rustls_native_certs::load_native_certs().certs,
            TrustedRoots::File(path) => CertificateDer::pem_file_iter(path)
                .and_then(Iterator::collect)
                .map_err(|error| format!("the root certificates of {}: {error}", path.display()))?,
        };
        let mut store = RootCertStore::empty();
        store.add_parsable_certificates(roots.iter().cloned());
        let chain = WebPkiServerVerifier::builder_with_provider(Arc::new(store), provider.clone())
            .build()
            .map_err(|error| format!("no root certificates to trust: {error}"))?;
        Ok(Self { provider, chain: Some(chain), roots, check_name })
    }
}

impl ServerCertVerifier for Verifier {
    fn verify_server_cert(
        &self,
        shown: &CertificateDer<'_>,
        between: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        ocsp: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let Some(chain) = &self.chain else { return Ok(ServerCertVerified::assertion()) };
        if self.roots.iter().any(|root| root == shown) {
            if self.check_name {
                rustls::client::verify_server_name(&ParsedCertificate::try_from(shown)?, name)?;
            }
            return Ok(ServerCertVerified::assertion());
        }
        match chain.verify_server_cert(shown, between, name, ocsp, now) {
            Err(Error::InvalidCertificate(
                CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
            )) if !self.check_name => Ok(ServerCertVerified::assertion()),
            other => other,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls12_signature(message, cert, signature, &self.provider.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls13_signature(message, cert, signature, &self.provider.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}
