package llm

// Flows counts the workspaces that the client remembers.
func (c *Client) Flows() int {
	c.limiter.mu.Lock()
	defer c.limiter.mu.Unlock()
	n := 0
	for _, q := range c.limiter.ops {
		n += q.jobs.Flows()
	}
	return n
}
