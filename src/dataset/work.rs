//! One statement at a time, with somebody who looks how far it is.

use std::sync::atomic::{AtomicBool, AtomicU64};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use crate::notebook::Place;
use crate::session::{Endpoint, Execution, Session, SessionError};

use super::gauge::Gauge;
use super::{DatasetError, Watch, Watched};

/// A statement that is done sooner is not looked at.
const UNWATCHED: Duration = Duration::from_millis(500);

/// How often a longer one is.
const TICK: Duration = Duration::from_millis(500);

/// A session of the template's, and whoever hears of it.
pub(super) struct Work<'a, 'w> {
    pub session: Session,
    endpoint: &'a Endpoint,
    database: &'a str,
    watch: &'a mut Watch<'w>,
}

impl<'a, 'w> Work<'a, 'w> {
    pub fn begin(
        endpoint: &'a Endpoint,
        database: &'a str,
        watch: &'a mut Watch<'w>,
    ) -> Result<Self, DatasetError> {
        let session = Session::connect(endpoint, database)?;
        let mut work = Self { session, endpoint, database, watch };
        let canceller = work.session.canceller();
        work.tell(Watched::Session(canceller))?;
        Ok(work)
    }

    /// Goes on in a new session: settings that statements left behind are gone, and what they wrote is committed.
    pub fn begin_again(&mut self) -> Result<(), DatasetError> {
        self.session = Session::connect(self.endpoint, self.database)?;
        let canceller = self.session.canceller();
        self.tell(Watched::Session(canceller))
    }

    pub fn tell(&mut self, what: Watched) -> Result<(), DatasetError> {
        if (self.watch)(what) { Ok(()) } else { Err(DatasetError::Stopped) }
    }

    /// Runs one statement of the dataset.
    pub fn send(&mut self, sql: &str, at: Place) -> Result<(), DatasetError> {
        self.send_as(sql, at, None, &mut |session| session.execute(sql))
    }

    /// Runs `act`, told as the statement `sql`. `sent` counts the bytes of a file and says how many it has.
    pub fn send_as(
        &mut self,
        sql: &str,
        at: Place,
        sent: Option<(&AtomicU64, u64)>,
        act: &mut (dyn FnMut(&mut Session) -> Result<Execution, SessionError> + Send),
    ) -> Result<(), DatasetError> {
        self.tell(Watched::Sending(sql.to_owned()))?;
        let canceller = self.session.canceller();
        let mut gauge = Gauge::new(self.endpoint, self.database, self.session.backend_pid(), sql, sent);
        let stopped = AtomicBool::new(false);
        let (session, watch) = (&mut self.session, &mut *self.watch);
        let result = thread::scope(|scope| {
            let (done, ended) = mpsc::channel();
            scope.spawn(move || done.send(act(session)));
            let mut patience = UNWATCHED;
            loop {
                match ended.recv_timeout(patience) {
                    Ok(result) => return Some(result),
                    Err(RecvTimeoutError::Disconnected) => return None,
                    Err(RecvTimeoutError::Timeout) => patience = TICK,
                }
                if !gauge.look().is_none_or(|progress| watch(Watched::Progress(progress))) {
                    stopped.store(true, std::sync::atomic::Ordering::Relaxed);
                    // Its end is waited for in any case.
                    let _ = canceller.cancel();
                }
            }
        });
        if stopped.into_inner() {
            return Err(DatasetError::Stopped);
        }
        let execution = result.ok_or(DatasetError::Stopped)?.map_err(DatasetError::at(at))?;
        self.tell(Watched::Statement {
            sql: sql.to_owned(),
            tag: execution.tag,
            duration_ms: execution.duration_ms,
        })
    }
}
