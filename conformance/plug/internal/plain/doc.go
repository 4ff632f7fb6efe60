// Package plain emits the events of programs that do not write the whole form of package event.
//
// A Translator takes events of the plain form, which ROUTES.md of package sse describes: they have
// no turns, numbers or times, and may lack members. A Dialect reads the messages of another
// vocabulary, by the rules of a mapping, as events of the plain form.
package plain
