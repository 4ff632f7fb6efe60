// Package testserver starts private servers of databases for tests. It is not part of the
// stable interface.
//
// Each server stores into a temporary folder, is reached from this machine only, and
// ends with the test. Tests may stop it and start it again.
package testserver
