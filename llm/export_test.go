package llm

// Flows counts the workspaces that the client remembers.
func (c *Client) Flows() int {
	c.gate.mu.Lock()
	defer c.gate.mu.Unlock()
	n := 0
	for _, q := range c.gate.ops {
		n += q.jobs.Flows()
	}
	return n
}
