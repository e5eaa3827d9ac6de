package cluster

// AtMost sets how many bytes are read of all answers together, in place of
// DefaultMaxInput. It is called before anything is asked. Watches are not counted: they
// have no end.
func (c *Cluster) AtMost(bytes int64) { c.allowed.Most = bytes }

// InPagesOf sets how many objects of a list each request asks for, in place of DefaultPage; 0
// asks for all at once. It is called before anything is asked.
func (c *Cluster) InPagesOf(objects int64) { c.allowed.Page = objects }
