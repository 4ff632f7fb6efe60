// Package peers runs the suite on adapters that others maintain. It is not part of the
// stable interface.
//
// They are pinned in package-lock.json and installed from the npm registry by `make
// peers`, which runs a part of the corpus on each of them and prints a table. A
// failure of a peer does not fail the tests; only a missing report does.
// An ACP agent runs as it is. A peer that is a library gets a plug (plugs/*.mjs): a
// program that calls the library's own interface as its documentation shows it, and
// speaks the protocol of conformance/plug/jsonl. A plug declares what the peer does
// not support: that is not expressible, and not a failure.
//
// A failure is known (known/*.txt) if a person has compared the wire with the peer's
// output and code, and the peer is the cause. The report calls the others new: they
// have not been examined.
//
// Bridges are packages that make the stream of a front end from a runtime. `make
// test-bridges` installs and grades them; their failures must all be known
// (bridges/*.txt).
//
// These adapters are not among the peers:
//
//	opencode acp                 connects to a model, not to a runtime that a stand-in can replace
//
//	@ai-sdk/harness-claude-code  installs a runtime from the registry and starts it in its own sandbox
package peers
