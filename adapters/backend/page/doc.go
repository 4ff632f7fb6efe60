// Package page is a chat page for browsers: HTML, CSS and JavaScript without a build
// step, a framework or a network. It is not part of the stable interface.
//
// The page holds no reducer. A [Differ] compares two states of a chat that package replay
// made, and returns a [Patch]: what changed, by message and block. The page applies
// patches to its copy of the chat and draws what changed. So a live session, a reload and
// a stored file show the same: each is a sequence of patches that ends in the same chat,
// and what is drawn depends on the chat alone.
//
// Package sidecar serves the page and a stream of patches. [Write] writes a session as one
// file, with a slider that replays it in its own time.
//
// # Text of a model
//
// The scripts never parse HTML: they create elements and set their text. Markdown is parsed
// by markdown-it 15.0.3 (MIT; assets/markdown-it holds dist/browser/markdown-it.umd.min.js
// of its npm package, unchanged) to tokens, of which the page draws a closed list
// of elements, and links to http, https and mailto only. The page's policy
// (Content-Security-Policy) names the hashes of its scripts and styles, and forbids HTML
// from strings (Trusted Types).
//
// # Media
//
// A chat refers to the images, sounds and documents that tools gave, and does not hold their
// bytes. A live page asks its server for those that the user sees, with the token, and
// shows raster images and sounds from the copy in the tab (blob:). All else can be saved as a
// file: images in SVG too, because they may hold scripts. A page that is a file asks nobody and
// names them only, with type and size: its bytes are in the log (`turnspec log media`).
package page
