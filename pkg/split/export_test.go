package split

// FindInAll is Find without the sample.
var FindInAll = find
