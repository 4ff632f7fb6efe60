package sse

// ParamOptions and AbilityOf are for the test of the page.
var (
	ParamOptions = paramOptions
	AbilityOf    = ability
)
