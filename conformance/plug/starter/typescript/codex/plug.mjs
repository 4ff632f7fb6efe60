// Connects an adapter to turnspec: turnspec smoke --runtime codex -- node conformance/plug.mjs
import "./adapter.ts"; // Node runs TypeScript from 22.18 on
