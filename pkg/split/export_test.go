package split

// FindInAll is Find without a look at a few of the nodes first.
var FindInAll = find
