// Package peers runs the suite on adapters that others maintain.
//
// They are pinned in package-lock.json and installed from the npm registry by `make
// peers`, which runs a part of the corpus on each of them and prints a table. A
// failure of a peer fails nothing here; only a report that could not be made does.
// An ACP agent runs as it is. A peer that is a library gets a plug (plugs/*.mjs): a
// program that calls the library's own interface as its documentation shows it, and
// speaks the protocol of conformance/plug/jsonl. A plug declares what the peer does
// not support: that is not expressible, and nobody's failure.
//
// A failure is known (known/*.txt) if somebody has compared the wire with the peer's
// output and its code, and it is the peer's. The report calls the others new: nobody
// has checked them.
//
// These are no peers here, because:
//
//	opencode acp                 speaks to a model, not to a runtime that a stand-in can replace
//
//	@ai-sdk/harness-claude-code  starts the runtime that it installs itself, from the registry, in a sandbox of its own
package peers
