package cause

// For tests of this package, which see it from outside.
var SchedulerWords = schedulerWords
