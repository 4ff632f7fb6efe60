// Package raced answers one question for tests: does the race detector watch
// this run?
//
// It makes all about ten times slower. A test that goes over the whole corpus
// then takes a sample, to look for races; what it proves, it proves without.
package raced
