package mcp

// HookHosts and HostNames list the hosts that can be set up.
var (
	HookHosts = hookHosts
	HostNames = hostNames
)
