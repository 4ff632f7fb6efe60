// Package peers answers one question: how do adapters that others maintain stand
// in the suite?
//
// Each is pinned in package-lock.json and installed from the npm registry by
// `make peers`, which lets all of them perform a part of the corpus and prints a
// table. What a peer fails fails nobody here; what fails is a report that could
// not be made. An ACP agent runs as it is. A peer that is a library gets a plug
// (plugs/*.mjs): a program that calls the library's own interface as its
// documentation shows it, and speaks the protocol of conformance/plug/jsonl. A plug
// declares what the peer has no word for: that is not expressible, and no fault
// of anybody.
//
// A failure is known (known/*.txt) when it was looked at by hand, on the wire
// beside what the peer gave and in the peer's own code, and is the peer's. The
// others the report calls new: nobody has looked at them.
//
// What peers are not here, and why:
//
//	opencode acp                 speaks to a model, not to a runtime that somebody can stand in for
//	@ai-sdk/harness-claude-code  starts the runtime that it installs itself, from the registry, in a sandbox of its own
package peers
