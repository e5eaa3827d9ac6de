package cluster

// OnWarning sets who is told of the API server's warnings, each once and in its
// words, whatever bytes they hold; from any goroutine, but never twice at a time.
// Nobody is told until it is called, and it must be called before the first
// request. The warnings of DryRun come with its answer.
func (c *Cluster) OnWarning(tell func(string)) { c.heard.Tell = tell }
