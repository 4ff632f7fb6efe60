package golden

// Outline is outline, for tests.
var Outline = outline
