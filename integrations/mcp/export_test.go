package mcp

import (
	"maps"
	"slices"
)

// HookHosts and HostNames list the hosts that can be set up.
func HookHosts() []string { return slices.Sorted(maps.Keys(hookFiles)) }
func HostNames() []string { return slices.Sorted(maps.Keys(hosts)) }
