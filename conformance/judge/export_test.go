package judge

// Outline is outline, for tests.
var Outline = outline
