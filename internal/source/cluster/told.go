package cluster

import (
	"github.com/kubectl-ds/kubectl-ds/internal/source/api"
)

// OnReading has tell called when a list of nodes or pods begins, with each page of it, and when it ends; from any
// goroutine. Nobody is told until it is called, and it must be called before the first request.
func (c *Cluster) OnReading(tell func(api.Reading)) { c.told.Tell = tell }
