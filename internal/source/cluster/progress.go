package cluster

import (
	"github.com/kubectl-ds/kubectl-ds/internal/source/api"
)

// OnReading sets the function that is called when a list of nodes or pods begins, after each page,
// and when the list ends. The function is called from any goroutine. Call OnReading before the
// first request.
func (c *Cluster) OnReading(tell func(api.Reading)) { c.onReading.Tell = tell }
