//! Speaks the protocol of subjects over stdio: conformance/plug/jsonl/PROTOCOL.md.
use crate::json::{object, parse, Value};
use std::io::{BufRead, Write};
use std::sync::{Arc, Mutex};

/// An error reply. Codes: unsupported, refused, unknown_id, no_turn, closed; of open also a code of the event error, such as
/// start_failure.
pub struct Failure(pub &'static str, pub String);

/// An adapter as a subject.
pub trait Adapter {
    const RUNTIME: &'static str;
    /// Abilities: answer, stop, steer, set_model …
    const CAN: &'static [&'static str];
    /// The types of events that the adapter emits.
    const EVENTS: &'static [&'static str];
    /// The members that these events lack. Remove one when the adapter emits it.
    const WITHOUT: &'static [&'static str] = &["session_ready.runtime_version", "session_ready.model", "session_ready.cwd", "session_ready.mode"];

    /// Starts the runtime in the folder `dir` of the command and emits session_ready.
    fn open(&mut self, command: &Value, emit: Emit) -> Result<(), Failure>;
    fn send(&mut self, command: &Value) -> Result<(), Failure>;
    /// Ends the runtime. Also called if stdin is closed before.
    fn close(&mut self) -> Result<(), Failure>;
    /// Does any other command.
    fn other(&mut self, name: &str, _command: &Value) -> Result<(), Failure> {
        Err(Failure("unsupported", format!("{name} is not supported")))
    }
}

/// Writes events. Threads may use clones.
#[derive(Clone, Default)]
pub struct Emit(Arc<Mutex<(i64, bool)>>); // the turn, and whether it runs

impl Emit {
    /// Writes an event. It has the number of the running turn: turn_start begins it, done and error end it.
    pub fn event(&self, typ: &str, data: Value) {
        let mut turn = self.0.lock().unwrap();
        if typ == "turn_start" {
            *turn = (turn.0 + 1, true);
        }
        let mut members = vec![("type".to_string(), typ.into()), ("data".to_string(), data)];
        if turn.1 && typ != "session_ready" && typ != "session_end" {
            members.push(("turn".to_string(), turn.0.into()));
        }
        if typ == "done" || typ == "error" {
            turn.1 = false;
        }
        write(object([("event", Value::Object(members))]));
    }
}

fn write(line: Value) {
    let mut out = std::io::stdout().lock();
    let _ = writeln!(out, "{line}").and_then(|()| out.flush());
}

/// Serves the adapter until stdin is closed. Write logs to stderr: stdout belongs to the protocol.
pub fn serve<A: Adapter>(mut adapter: A) {
    let names = |l: &[&str]| Value::List(l.iter().map(|s| (*s).into()).collect());
    let hello = [("protocol", 1.into()), ("runtime", A::RUNTIME.into()), ("can", names(A::CAN)), ("events", names(A::EVENTS)), ("without", names(A::WITHOUT))];
    write(object([("hello", object(hello))]));
    let (emit, mut is_open) = (Emit::default(), false);
    for line in std::io::stdin().lock().lines().map_while(Result::ok) {
        let command = parse(&line).unwrap_or_else(|err| panic!("{err}: {line}"));
        let result = match command.get("do").text() {
            "open" => {
                is_open = true;
                adapter.open(&command, emit.clone())
            }
            "send" => adapter.send(&command),
            "close" => {
                is_open = false;
                adapter.close()
            }
            name => adapter.other(name, &command),
        };
        let id = ("id", command.get("id").clone());
        write(object([("reply", match result {
            Ok(()) => object([id]),
            Err(Failure(code, message)) => object([id, ("error", object([("code", code.into()), ("message", message.as_str().into())]))]),
        })]));
    }
    if is_open {
        let _ = adapter.close();
    }
}
