package explain

// ProblemOrder is for external tests of this package.
var ProblemOrder = problemOrder
