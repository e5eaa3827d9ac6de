package cluster

// AtMost sets the maximum number of bytes to read from all responses together. The default is
// DefaultMaxInput. Watches are not counted. Call it before the first request.
func (c *Cluster) AtMost(bytes int64) { c.allowed.Most = bytes }

// InPagesOf sets the number of objects that each request for a list returns at most. The default is
// DefaultPage; 0 requests whole lists. Call it before the first request.
func (c *Cluster) InPagesOf(objects int64) { c.allowed.Page = objects }
