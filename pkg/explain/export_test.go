package explain

// For tests of this package, which see it from outside.
var ProblemOrder = problemOrder
