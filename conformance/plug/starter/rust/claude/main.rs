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
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

const ARGS: &str = "-p --verbose --input-format stream-json --output-format stream-json --include-partial-messages --permission-prompt-tool stdio --permission-mode default";
const SESSION: &str = "6f1d0f8e-0c5e-4f4e-9a55-2f5d3f0b7c11"; // a new UUID for each session, in your adapter

#[derive(Default)]
struct Claude {
    stdin: Option<ChildStdin>,
    reader: Option<JoinHandle<()>>,
    waiting: Arc<Mutex<VecDeque<String>>>, // ids of messages whose turn has not begun
}

impl Adapter for Claude {
    const RUNTIME: &'static str = "claude";
    const CAN: &'static [&'static str] = &[];
    const EVENTS: &'static [&'static str] = &["session_ready", "turn_start", "delta", "error", "done", "session_end"];

    fn open(&mut self, command: &Value, emit: Emit) -> Result<(), Failure> {
        let mut claude = Command::new("claude");
        claude.args(ARGS.split(' ')).args(["--session-id", SESSION]).current_dir(command.get("dir").text());
        if command.get("model") != &Value::Null {
            claude.args(["--model", command.get("model").text()]);
        }
        let mut child = claude.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().map_err(|err| Failure("start_failure", err.to_string()))?;
        self.stdin = child.stdin.take();
        emit.event("session_ready", object([("session_id", command.get("session_id").clone()), ("runtime", "claude".into()), ("provider_session_id", SESSION.into())]));
        let waiting = self.waiting.clone();
        self.reader = Some(std::thread::spawn(move || read(child, emit, waiting)));
        Ok(())
    }

    fn send(&mut self, command: &Value) -> Result<(), Failure> {
        self.waiting.lock().unwrap().push_back(command.get("message_id").text().to_string());
        let message = object([("role", "user".into()), ("content", command.get("text").clone())]);
        let mut stdin = self.stdin.as_ref().ok_or(Failure("closed", "the session is closed".to_string()))?;
        writeln!(stdin, "{}", object([("type", "user".into()), ("message", message)])).map_err(|err| Failure("closed", err.to_string()))
    }

    fn close(&mut self) -> Result<(), Failure> {
        self.stdin = None;
        let _ = self.reader.take().map(JoinHandle::join);
        Ok(())
    }
}

fn read(mut child: Child, emit: Emit, waiting: Arc<Mutex<VecDeque<String>>>) {
    let (mut message, mut running) = (0, false);
    for line in BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok) {
        let Ok(m) = parse(&line) else { continue };
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
        } else if m.get("type").text() == "result" {
            running = false;
            match m.get("is_error") {
                Value::Bool(true) => emit.event("error", object([("code", "unknown".into()), ("message", m.get("subtype").clone())])),
                _ => emit.event("done", object([])),
            }
        }
    }
    if running {
        emit.event("error", object([("code", "crash".into()), ("message", "the runtime ended".into())]));
    }
    let _ = child.wait();
    emit.event("session_end", object([("reason", "the runtime ended".into())]));
}

fn main() {
    serve(Claude::default());
}
