//go:build race

package adapters_test

const fewer = 20
