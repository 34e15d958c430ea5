//! Recordings: everything that one run of one notebook leaves on disk, enough to report it again with no server.
//!
//! `run` emits [`Event`]s; the [`Writer`] stores them as they happen, and [`Recording`] reads them back.

mod acts;
mod error;
mod event;
mod evidence;
mod folder;
mod manifest;
mod reader;
mod sweep;
mod writer;

pub use acts::{ComparedEvent, ExecutedEvent, Sizes, StorageEvent, WalWritten};
pub use error::RecordingError;
pub use event::{
    ArmKey, BuiltEvent, CaptureEvent, CaptureWay, Event, Failure, LetEvent, LoadingEvent, Observer,
    SampleEvent, StatementEvent, StepOutcome, TimedEvent, VacuumEvent,
};
pub use folder::{Folder, is_partial};
pub use manifest::{FORMAT, Inputs, Manifest, Status};
pub use reader::{Captured, Recording};
pub use sweep::{EstimateRow, EstimatesEvent, PointEvent, ProbeEvent, SweepEvent};
pub use writer::Writer;
