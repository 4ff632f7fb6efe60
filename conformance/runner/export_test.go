package runner

// Spread is spread, for tests.
var Spread = spread

// Take is take, for tests.
var Take = take
