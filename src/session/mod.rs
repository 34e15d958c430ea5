//! One connection to a PostgreSQL server: execute, time, explain.

mod endpoint;

pub use endpoint::{Endpoint, Host, Secret};
