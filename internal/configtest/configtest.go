// Package configtest gives tests the settings of default.yaml, so that no package repeats its
// defaults.
package configtest

import (
	"fmt"
	"reflect"
	"strings"

	"memoryd"

	"go.yaml.in/yaml/v3"
)

// Section returns the section of default.yaml at a dotted path, such as "store.sqlite". It
// panics if there is none.
func Section[T any](path string) T {
	var doc yaml.Node
	if err := yaml.Unmarshal(memoryd.DefaultConfig, &doc); err != nil {
		panic(err)
	}
	node := doc.Content[0]
	for key := range strings.SplitSeq(path, ".") {
		node = child(node, key)
	}
	var into T
	if err := node.Decode(&into); err != nil {
		panic(fmt.Errorf("default.yaml: %s: %w", path, err))
	}
	return into
}

func child(node *yaml.Node, key string) *yaml.Node {
	for i := 0; i+1 < len(node.Content); i += 2 {
		if node.Content[i].Value == key {
			return node.Content[i+1]
		}
	}
	panic("default.yaml has no setting " + key)
}

// Keys are the dotted paths of all settings of a struct; "*" stands for a name that the
// user chooses.
func Keys(t reflect.Type) []string { return keysOf(t, "") }

func keysOf(t reflect.Type, path string) (keys []string) {
	join := func(key string) string { return strings.TrimPrefix(path+"."+key, ".") }
	switch {
	case t.Kind() == reflect.Map && t.Elem().Kind() == reflect.Struct:
		return keysOf(t.Elem(), join("*"))
	case t.Kind() != reflect.Struct || t == reflect.TypeFor[yaml.Node]():
		return []string{path}
	}
	for f := range t.Fields() {
		name, options, _ := strings.Cut(f.Tag.Get("yaml"), ",")
		if strings.Contains(options, "inline") {
			keys = append(keys, keysOf(f.Type, path)...)
		} else if name != "" && name != "-" {
			keys = append(keys, keysOf(f.Type, join(name))...)
		}
	}
	return keys
}
