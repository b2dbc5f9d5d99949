package llm

// Flows counts the workspaces that the client remembers.
func (c *Client) Flows() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := 0
	for _, q := range c.ops {
		n += q.jobs.Flows()
	}
	return n
}
