//! Chromium, driven over its DevTools protocol: just enough to open a page, look at it and touch it.

use std::io::Write as _;
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tungstenite::{Message, WebSocket};

/// A browser of the test's own, ended with it.
pub struct Browser {
    child: Child,
    socket: WebSocket<TcpStream>,
    last: u64,
    /// What pages did that nobody asked for, by session.
    events: Vec<Value>,
    _profile: tempfile::TempDir,
}

/// How a page is opened.
#[derive(Debug, Clone, Copy)]
pub struct Look {
    pub width: u32,
    pub dark: bool,
    pub scripts: bool,
}

/// One page.
pub struct Page<'b> {
    browser: &'b mut Browser,
    session: String,
    pub address: String,
}

impl Browser {
    /// Starts Chromium. Where there is none the test is skipped, and says so; in CI it must be there.
    pub fn start() -> Option<Self> {
        let Some(program) = program() else {
            assert!(std::env::var_os("CI").is_none(), "no Chromium here (PLANBOOK_TEST_CHROMIUM names none)");
            let _ = writeln!(std::io::stderr(), "skipped: no Chromium is installed");
            return None;
        };
        let profile = tempfile::Builder::new().prefix("pbc").tempdir().unwrap();
        let mut command = Command::new(program);
        command.args([
            "--headless=new",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-dev-shm-usage",
            "--no-first-run",
        ]);
        command.args([
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-extensions",
        ]);
        command.args(["--remote-debugging-port=0", "--force-color-profile=srgb", "about:blank"]);
        command.arg(format!("--user-data-dir={}", profile.path().display()));
        let child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let (port, path) = address(profile.path());
        let stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        let (socket, _) = tungstenite::client(format!("ws://127.0.0.1:{port}{path}"), stream).unwrap();
        Some(Self { child, socket, last: 0, events: vec![], _profile: profile })
    }

    /// Opens a file and waits until it is loaded.
    pub fn open(&mut self, file: &Path, look: Look) -> Page<'_> {
        self.events.clear();
        let target = self.call("", "Target.createTarget", json!({"url": "about:blank"}))["targetId"].clone();
        let attached = self.call("", "Target.attachToTarget", json!({"targetId": target, "flatten": true}));
        let session = attached["sessionId"].as_str().unwrap().to_owned();
        for domain in ["Page", "Runtime", "Log", "Network"] {
            self.call(&session, &format!("{domain}.enable"), json!({}));
        }
        let size = json!({"width": look.width, "height": 900, "deviceScaleFactor": 1, "mobile": false});
        self.call(&session, "Emulation.setDeviceMetricsOverride", size);
        let scheme = if look.dark { "dark" } else { "light" };
        let features = json!({"features": [{"name": "prefers-color-scheme", "value": scheme}]});
        self.call(&session, "Emulation.setEmulatedMedia", features);
        self.call(&session, "Emulation.setScriptExecutionDisabled", json!({"value": !look.scripts}));
        let address = format!("file://{}", file.canonicalize().unwrap().display());
        self.call(&session, "Page.navigate", json!({"url": address}));
        self.wait(&session, "Page.loadEventFired");
        Page { browser: self, session, address }
    }

    fn call(&mut self, session: &str, method: &str, params: Value) -> Value {
        self.last += 1;
        let id = self.last;
        let mut message = json!({"id": id, "method": method, "params": params});
        if !session.is_empty() {
            message["sessionId"] = json!(session);
        }
        self.socket.send(Message::text(message.to_string())).unwrap();
        loop {
            let answer = self.read();
            if answer["id"] == id {
                assert!(answer["error"].is_null(), "{method}: {}", answer["error"]);
                return answer["result"].clone();
            }
            self.events.push(answer);
        }
    }

    fn wait(&mut self, session: &str, method: &str) {
        let is_it = |event: &Value| event["method"] == method && event["sessionId"] == session;
        while !self.events.iter().any(is_it) {
            let event = self.read();
            self.events.push(event);
        }
    }

    fn read(&mut self) -> Value {
        loop {
            if let Message::Text(text) = self.socket.read().unwrap() {
                return serde_json::from_str(&text).unwrap();
            }
        }
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Page<'_> {
    /// Lays the page out as for paper that is `width` pixels wide inside its margins.
    pub fn on_paper(&mut self, width: u32) {
        let size = json!({"width": width, "height": 1000, "deviceScaleFactor": 1, "mobile": false});
        self.browser.call(&self.session, "Emulation.setDeviceMetricsOverride", size);
        self.browser.call(&self.session, "Emulation.setEmulatedMedia", json!({"media": "print"}));
    }

    /// The value of an expression on the page.
    pub fn evaluate(&mut self, expression: &str) -> Value {
        let params = json!({"expression": expression, "returnByValue": true, "awaitPromise": true});
        let answer = self.browser.call(&self.session, "Runtime.evaluate", params);
        assert!(answer["exceptionDetails"].is_null(), "{expression}: {}", answer["exceptionDetails"]);
        answer["result"]["value"].clone()
    }

    /// Clicks into the middle of the first element that a selector finds.
    pub fn click(&mut self, selector: &str) {
        let place = self.evaluate(&format!(
            "(() => {{ const e = document.querySelector({selector:?}); e.scrollIntoView({{block: 'center', behavior: 'instant'}}); \
             const r = e.getBoundingClientRect(); return [r.x + r.width / 2, r.y + r.height / 2]; }})()"
        ));
        for kind in ["mousePressed", "mouseReleased"] {
            let event =
                json!({"type": kind, "x": place[0], "y": place[1], "button": "left", "clickCount": 1});
            self.browser.call(&self.session, "Input.dispatchMouseEvent", event);
        }
    }

    /// Presses a key.
    pub fn press(&mut self, key: &str, code: u32) {
        for kind in ["keyDown", "keyUp"] {
            let mut event = json!({"type": kind, "key": key, "code": key, "windowsVirtualKeyCode": code});
            if key == "Enter" && kind == "keyDown" {
                event["text"] = json!("\r");
            }
            self.browser.call(&self.session, "Input.dispatchKeyEvent", event);
        }
    }

    /// Every address that the page asked for.
    pub fn requests(&self) -> Vec<String> {
        let asked = self.events().filter(|event| event["method"] == "Network.requestWillBeSent");
        asked.filter_map(|event| Some(event["params"]["request"]["url"].as_str()?.to_owned())).collect()
    }

    /// What the page complained of: exceptions, errors and warnings of the console and the browser, dialogs.
    pub fn complaints(&self) -> Vec<String> {
        let complaint = |event: &&Value| match event["method"].as_str() {
            Some("Runtime.exceptionThrown" | "Page.javascriptDialogOpening") => true,
            Some("Runtime.consoleAPICalled") => {
                event["params"]["type"] == "error" || event["params"]["type"] == "warning"
            }
            Some("Log.entryAdded") => event["params"]["entry"]["level"] != "info",
            _ => false,
        };
        self.events().filter(complaint).map(ToString::to_string).collect()
    }

    fn events(&self) -> impl Iterator<Item = &Value> {
        self.browser.events.iter().filter(|event| event["sessionId"] == self.session)
    }
}

fn program() -> Option<PathBuf> {
    if let Some(named) = std::env::var_os("PLANBOOK_TEST_CHROMIUM") {
        return Some(named.into());
    }
    let path = std::env::var_os("PATH")?;
    let names = ["chromium", "chromium-browser", "google-chrome"];
    std::env::split_paths(&path)
        .flat_map(|folder| names.map(|name| folder.join(name)))
        .find(|file| file.is_file())
}

/// Where the browser listens: it writes that into its profile.
fn address(profile: &Path) -> (u16, String) {
    let file = profile.join("DevToolsActivePort");
    let started = Instant::now();
    loop {
        if let Ok(text) = std::fs::read_to_string(&file)
            && let Some((port, path)) = text.split_once('\n')
            && let Ok(port) = port.parse()
        {
            return (port, path.trim().to_owned());
        }
        assert!(started.elapsed() < Duration::from_secs(60), "Chromium does not listen after a minute");
        std::thread::sleep(Duration::from_millis(20));
    }
}
