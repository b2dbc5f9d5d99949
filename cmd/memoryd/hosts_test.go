package main

import (
	"reflect"
	"strings"
	"testing"

	"memoryd/integrations/mcp"
)

// Whoever is named to install is known to package mcp, which does not ask again.
func TestEveryHostThatTheCommandsTakeIsKnown(t *testing.T) {
	named := func(of any, field string) []string {
		f, _ := reflect.TypeOf(of).FieldByName(field)
		return strings.Split(f.Tag.Get("enum"), ",")
	}
	for _, client := range named(inClient{}, "Client") {
		if _, err := mcp.Install(client, t.TempDir(), "", mcp.Entry{Command: "memoryd"}); err != nil {
			t.Errorf("%s: %v", client, err)
		}
	}
	for _, host := range named(atHost{}, "Host") {
		if _, err := mcp.InstallHooks(host, t.TempDir(), "memoryd", nil); err != nil {
			t.Errorf("%s: %v", host, err)
		}
	}
}
