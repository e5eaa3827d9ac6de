package cluster

// OnWarning sets the function that receives the API server's warnings, each once and unmodified, so
// they may contain any bytes. The function is called from any goroutine, but never concurrently.
// Call OnWarning before the first request. Warnings of a DryRun are part of its result instead.
func (c *Cluster) OnWarning(tell func(string)) { c.serverWarnings.Tell = tell }
