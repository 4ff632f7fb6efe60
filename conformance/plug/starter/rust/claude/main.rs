// Connects an adapter to turnspec: turnspec smoke --runtime claude -- cargo run -q --manifest-path conformance/Cargo.toml
// The adapter here is an example for text only: replace it by yours.
#[allow(dead_code)]
mod json;
mod protocol;

use json::{object, parse, Value};
use protocol::{serve, Adapter, Emit, Failure};
use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{sleep, spawn, JoinHandle};
use std::time::Duration;

const ARGS: &str = "-p --verbose --input-format stream-json --output-format stream-json --include-partial-messages --permission-prompt-tool stdio --permission-mode default";
const SESSION: &str = "6f1d0f8e-0c5e-4f4e-9a55-2f5d3f0b7c11"; // a new UUID for each session, in your adapter

#[derive(Default)]
struct Claude {
    runtime: Runtime,
    reader: Option<JoinHandle<()>>,
    waiting: Arc<Mutex<VecDeque<String>>>, // ids of messages whose turn has not begun
}

#[derive(Clone, Default)]
struct Runtime {
    pid: u32,
    stdin: Arc<Mutex<Option<ChildStdin>>>,
    ended: Arc<AtomicBool>,
    closed: Arc<AtomicBool>, // by the client
}

impl Runtime {
    // Ends the process: by its stdin, by SIGTERM 3 s later, and by SIGKILL 3 s after that.
    fn end(&self) {
        *self.stdin.lock().unwrap() = None;
        let Runtime { pid, ended, .. } = self.clone();
        spawn(move || {
            for signal in ["-TERM", "-KILL"] {
                for _ in 0..30 {
                    sleep(Duration::from_millis(100));
                    if ended.load(Ordering::SeqCst) {
                        return;
                    }
                }
                let _ = Command::new("kill").args([signal, &pid.to_string()]).status();
            }
        });
    }
}

impl Adapter for Claude {
    const RUNTIME: &'static str = "claude";
    const CAN: &'static [&'static str] = &[];
    const EVENTS: &'static [&'static str] = &["session_ready", "turn_start", "delta", "error", "done", "session_end"];

    fn open(&mut self, command: &Value, emit: Emit) -> Result<(), Failure> {
        let mut claude = Command::new("claude");
        claude.args(ARGS.split(' ')).args(["--session-id", SESSION]).current_dir(command.get("dir").text());
        claude.env("CLAUDE_CODE_SDK_READS_SESSION_STATE", "1"); // it reports when it becomes idle
        if command.get("model") != &Value::Null {
            claude.args(["--model", command.get("model").text()]);
        }
        let mut child = claude.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().map_err(|err| Failure("start_failure", err.to_string()))?;
        self.runtime = Runtime { pid: child.id(), stdin: Arc::new(Mutex::new(child.stdin.take())), ended: Arc::default(), closed: Arc::default() };
        emit.event("session_ready", object([("session_id", command.get("session_id").clone()), ("runtime", "claude".into()), ("provider_session_id", SESSION.into())]));
        let (waiting, runtime) = (self.waiting.clone(), self.runtime.clone());
        self.reader = Some(spawn(move || read(child, runtime, emit, waiting)));
        Ok(())
    }

    fn send(&mut self, command: &Value) -> Result<(), Failure> {
        self.waiting.lock().unwrap().push_back(command.get("message_id").text().to_string());
        let message = object([("role", "user".into()), ("content", command.get("text").clone())]);
        let mut stdin = self.runtime.stdin.lock().unwrap();
        let stdin = stdin.as_mut().ok_or(Failure("closed", "the session is closed".to_string()))?;
        writeln!(stdin, "{}", object([("type", "user".into()), ("message", message)])).map_err(|err| Failure("closed", err.to_string()))
    }

    fn close(&mut self) -> Result<(), Failure> {
        self.runtime.closed.store(true, Ordering::SeqCst);
        self.runtime.end();
        let _ = self.reader.take().map(JoinHandle::join);
        Ok(())
    }
}

fn read(mut child: Child, runtime: Runtime, emit: Emit, waiting: Arc<Mutex<VecDeque<String>>>) {
    let (mut message, mut running) = (0, false);
    for line in BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok) {
        let m = parse(&line).unwrap_or(Value::Null); // a line that is no message
        let event = m.get("event");
        let text = event.get("delta").get("text");
        if m.get("subtype").text() == "init" {
            running = true;
            let ids = waiting.lock().unwrap().pop_front().map(|id| id.as_str().into());
            emit.event("turn_start", object([("cause", "user".into()), ("message_ids", Value::List(ids.into_iter().collect()))]));
        } else if event.get("type").text() == "message_start" {
            message += 1;
        } else if text != &Value::Null && m.get("parent_tool_use_id") == &Value::Null {
            let (id, block) = (message.to_string(), format!("{message}.{}", event.get("index")));
            emit.event("delta", object([("text", text.clone()), ("message_id", id.as_str().into()), ("block_id", block.as_str().into())]));
        } else if running && m.get("subtype").text() == "session_state_changed" && m.get("state").text() == "idle" {
            running = false;
            emit.event("error", object([("code", "protocol".into()), ("message", "the runtime became idle and sent no result".into())]));
        } else if running && m.get("type").text() == "result" {
            running = false;
            match m.get("is_error") {
                Value::Bool(true) => emit.event("error", object([("code", "unknown".into()), ("message", m.get("subtype").clone())])),
                _ => emit.event("done", object([])),
            }
        }
    }
    runtime.end(); // a runtime that has closed its stdout may still run
    let code = child.wait().ok().and_then(|status| status.code());
    runtime.ended.store(true, Ordering::SeqCst);
    if running || !waiting.lock().unwrap().is_empty() {
        emit.event("error", object([("code", "crash".into()), ("message", "the runtime ended".into())]));
    }
    let closed = runtime.closed.load(Ordering::SeqCst);
    let reason = ("reason", if closed { "closed" } else { "the runtime ended" }.into());
    emit.event("session_end", match code {
        Some(code) => object([reason, ("exit_code", i64::from(code).into())]),
        None => object([reason]),
    });
}

fn main() {
    serve(Claude::default());
}
