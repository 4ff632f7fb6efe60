// Connects an adapter to turnspec: turnspec smoke --runtime {{runtime}} -- cargo run -q --manifest-path conformance/Cargo.toml
#![allow(dead_code)]
mod json;
mod protocol;

use json::Value;
use protocol::{serve, Adapter, Emit, Failure};

struct Mine;

impl Adapter for Mine {
    const RUNTIME: &'static str = "{{runtime}}";
    const CAN: &'static [&'static str] = &[];
    // A check that needs another type of event is not expressible.
    const EVENTS: &'static [&'static str] = &["session_ready", "turn_start", "delta", "error", "done", "session_end"];

    // Start your adapter in the folder command.get("dir"); it finds the runtime in PATH. Then, for each of its events:
    //   emit.event("session_ready", object([("session_id", …), ("runtime", "{{runtime}}".into()), ("provider_session_id", …)]));
    //   emit.event("turn_start", object([("cause", "user".into()), ("message_ids", …)]));
    //   emit.event("delta", object([("text", …), ("message_id", …), ("block_id", …)]));
    //   emit.event("done", object([]));
    fn open(&mut self, _command: &Value, _emit: Emit) -> Result<(), Failure> {
        Err(Failure("start_failure", "conformance/main.rs starts no adapter yet".to_string()))
    }

    fn send(&mut self, _command: &Value) -> Result<(), Failure> {
        Ok(())
    }

    fn close(&mut self) -> Result<(), Failure> {
        Ok(())
    }
}

fn main() {
    serve(Mine);
}
