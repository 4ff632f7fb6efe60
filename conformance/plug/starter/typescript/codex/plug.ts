// Connects an adapter to turnspec: turnspec smoke --runtime codex -- node conformance/plug.ts
import "./adapter.ts"; // it speaks the protocol itself
