// Package mapping reads streams of other vocabularies as events of the plain form of
// package sse. It is not part of the stable interface.
//
// A Mapping is JSON, which schema.json describes. It lists rules, of which the first that matches a message applies:
//
//	{
//	  "name": "my-stream",
//	  "rules": [
//	    {"when": {"type": "chunk"}, "emit": "delta", "data": {"text": "body.text"}},
//	    {"when": {"type": "call"}, "key": "id", "keep": {"name": "fn"}},
//	    {"when": {"type": "args"}, "key": "id", "append": {"args": "piece"}},
//	    {"when": {"type": "go"}, "key": "id", "emit": "tool_start", "data": {"tool_use_id": "id", "tool": "@name", "input": "json:@args"}},
//	    {"when": {"type": "end", "ok": true}, "emit": "done"},
//	    {"when": {"type": "end"}, "emit": "error", "data": {"message": "reason", "code": "=\"unknown\""}}
//	  ],
//	  "ignore": ["ping", "debug.*"],
//	  "without": ["tool_result.is_error"],
//	  "end_of_stream": "[DONE]"
//	}
//
// when holds the values that members of the message must have; null is that of a missing one. has lists
// members that must not be missing. A path may go through a list by index: choices.0.delta.content. With each,
// the path of a list, a rule matches the elements of the list: *.type is a member of the element. Rules with the
// same each that follow each other are tried on one element after the other. A rule
// without emit only keeps values. A value in data and keep is one of
//
//	body.text      a member of the message; if it is missing, the event does not have the member either
//	@name          what an earlier message kept under the same key
//	="unknown"     this JSON
//	json:PATH      the JSON that a text holds; json:@NAME too
//
// In data the name * is the path of an object, whose members are copied: each that the event has and that
// data does not name. If messages carry events as they are, one rule reads them all: with "emit": "*" a text in when
// ends in *, which stands for the name of the event (tool_progress, tool-progress and tool.progress are one), and of
// lists the events. There * stands for each event that no other rule emits and that without does not list; it is
// expected of a server once it was seen:
//
//	{"when": {"type": "CUSTOM", "name": "*"}, "emit": "*", "of": ["error", "*"], "data": {"*": "value", "subagent_id": "agent"}}
//
// key is the member by which messages belong together, such as the id of a call, or several with
// spaces between; call:toolCallId and call:id name the same thing by different members. append adds to a text that is kept. If a rule has "next": true, later rules may
// match the same message too, so that it becomes several events. ignore lists types of messages that are dropped; one that ends in * stands for
// all that begin with the rest. A message that no rule matches, and that is not ignored, becomes a
// notice, which a check reports. without lists what the vocabulary cannot express, besides the types of
// events that no rule emits: checks that need it are not expressible. if_seen lists what only some servers of the
// vocabulary send: without events in GET /health, it is expected once it was seen. With one_turn a stream is a
// turn, so that the work of a sub-agent that outlives its turn is not expected. ROUTES.md of package sse has the
// types and members of the plain form. note and notes are for readers.
//
// A program over stdio that takes the commands of package jsonl writes its messages as lines beside the hello and
// the replies. One that takes no commands has stdin, the line of a message, or args, the arguments with which it
// is started for each message; then its exit with code 0 is done if no message ended the turn:
//
//	{"name": "my-cli", "stdin": "{message}", "rules": […]}
//	{"name": "my-cli", "stdin": {"type": "user", "text": "{message}"}, "rules": […]}
//	{"name": "my-cli", "args": ["--prompt", "{message}", "--cwd", "{dir}"], "rules": […]}
//
// A file may extend a built-in vocabulary: its own rules come first. post is the POST of a message
// whose reply is the stream of its turn, stop the one that stops the turn; without post the server
// has the routes of package sse. In their path and body {session}, {message}, {message_id} and {dir}
// stand for the values:
//
//	{
//	  "name": "my-chat",
//	  "extends": "uistream",
//	  "post": {"path": "/api/chat", "body": {"id": "{session}", "messages": [{"role": "user", "parts": [{"type": "text", "text": "{message}"}]}]}}
//	}
package mapping
