package config

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"iter"
	"math"
	"net"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"memoryd/internal/suggest"

	"go.yaml.in/yaml/v3"
)

// check walks a tree beside the type that it will be decoded into. It reports every key that
// the type has no field for, every key given twice and every value of another type. Of a part of
// a configuration it takes them out; of a whole one, where no null stands for what is below it, it
// also reports what breaks the tag of its field.
func check(n *yaml.Node, t reflect.Type, path string, whole bool) (problems []Problem) {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t == typeOfNode {
		return nil
	}
	if n.Kind != yaml.MappingNode || t.Kind() != reflect.Struct && t.Kind() != reflect.Map {
		if msg := wrongType(n, t); msg != "" {
			return []Problem{{Line: n.Line, Key: path, Msg: msg}}
		}
		return nil
	}
	seen := map[string]bool{}
	var known []*yaml.Node
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		p := Problem{Line: key.Line, Key: join(path, key.Value)}
		field, meant := fieldNamed(t, key.Value)
		switch {
		case seen[key.Value]:
			p.Msg = "given twice"
		case field.Type == nil && removed(p.Key) != "":
			p.Msg = "is gone: " + removed(p.Key)
		case field.Type == nil && meant != "":
			p.Msg = "unknown key; did you mean " + meant + "?"
		case field.Type == nil:
			p.Msg = "unknown key"
		}
		seen[key.Value] = true
		if p.Msg != "" {
			problems = append(problems, p)
			continue
		}
		found := check(value, field.Type, p.Key, whole)
		if whole && len(found) == 0 {
			found = broken(value, field, p.Key)
		}
		if problems = append(problems, found...); whole || len(found) == 0 || found[0].Key != p.Key {
			known = append(known, key, value)
		}
	}
	n.Content = known
	return problems
}

// numbers are those in a tag.
var numbers = regexp.MustCompile(`\d+(?:ms|[smh])?`)

// broken says how a value breaks what the tag must of its field says: "a, b or c", "one of a, b, c" or "host:port" of a text; "1 to 9",
// "at least 1", "0 or more", "more than 0" or "at least 0 and below 1" of a number. No duration is below 0.
func broken(n *yaml.Node, f reflect.StructField, path string) []Problem {
	must := f.Tag.Get("must")
	if f.Type == typeOfDuration {
		must = cmp.Or(must, "0 or more")
	}
	if must == "" {
		return nil
	}
	v := reflect.New(f.Type)
	_ = n.Decode(v.Interface()) // it has the type
	v = v.Elem()
	if f.Type.Kind() == reflect.String {
		words := strings.NewReplacer("one of ", "", " or ", ", ").Replace(must)
		fits := slices.Contains(strings.Split(words, ", "), v.String())
		if must == "host:port" {
			_, _, err := net.SplitHostPort(v.String())
			fits = err == nil || v.String() == ""
		}
		if fits {
			return nil
		}
		return []Problem{{Line: n.Line, Key: path, Msg: fmt.Sprintf("must be %s, got %q", must, v)}}
	}
	number, bounds := v.Convert(reflect.TypeFor[float64]()).Float(), []float64{0, math.Inf(1)}
	for i, text := range numbers.FindAllString(must, -1) {
		var err error
		if bounds[i], err = strconv.ParseFloat(text, 64); err != nil {
			d, _ := time.ParseDuration(text)
			bounds[i] = float64(d)
		}
	}
	least, most := bounds[0], bounds[1]
	beyond := number == least && strings.HasPrefix(must, "more than") || number == most && strings.Contains(must, "below")
	if number >= least && number <= most && !beyond {
		return nil
	}
	return []Problem{{Line: n.Line, Key: path, Msg: fmt.Sprintf("must be %s, got %v", must, v)}}
}

// fields are the keys of a struct in YAML and the fields that they are decoded into,
// those of embedded structs among them.
func fields(t reflect.Type) iter.Seq2[string, reflect.StructField] {
	return func(yield func(string, reflect.StructField) bool) {
		for f := range t.Fields() {
			name, options, _ := strings.Cut(f.Tag.Get("yaml"), ",")
			if strings.Contains(options, "inline") {
				for key, inner := range fields(f.Type) {
					if !yield(key, inner) {
						return
					}
				}
			} else if name != "" && name != "-" && !yield(name, f) {
				return
			}
		}
	}
}

// fieldNamed finds the field that a key is decoded into; without a type, and the
// name that may have been meant, when there is none.
func fieldNamed(t reflect.Type, key string) (field reflect.StructField, meant string) {
	if t.Kind() == reflect.Map {
		return reflect.StructField{Type: t.Elem()}, ""
	}
	var names []string
	for name, field := range fields(t) {
		if name == key {
			return field, ""
		}
		names = append(names, name)
	}
	return field, suggest.Nearest(key, names)
}

// decodeStrict decodes a tree into a struct, refusing unknown keys. An error
// begins with its key.
func decodeStrict(n *yaml.Node, into any, path string) error {
	if n.IsZero() {
		return nil
	}
	n = clone(n)
	for _, p := range check(n, reflect.TypeOf(into), path, true) {
		return fmt.Errorf("%s: %s", strings.TrimPrefix(p.Key, path+"."), p.Msg)
	}
	return n.Decode(into)
}

// merge lays over on top of base: mappings join key by key, anything else is
// replaced as a whole. A null leaves what base has.
func merge(base, over *yaml.Node) *yaml.Node {
	if over.Tag == "!!null" {
		return base
	}
	if base.Kind != yaml.MappingNode || over.Kind != yaml.MappingNode {
		return over
	}
	for i := 0; i+1 < len(over.Content); i += 2 {
		key, value := over.Content[i], over.Content[i+1]
		if at := indexOf(base, key.Value); at >= 0 {
			base.Content[at] = merge(base.Content[at], value)
		} else {
			base.Content = append(base.Content, key, value)
		}
	}
	return base
}

// inheritModels gives each model that the user adds the built-in settings to
// start from, as the default one has them.
func inheritModels(base, user *yaml.Node) {
	at, from := indexOf(user, "llm"), indexOf(base, "llm")
	if at < 0 || from < 0 {
		return
	}
	builtIn := base.Content[from]
	settings := indexOf(builtIn, "default")
	added := user.Content[at]
	for i := 0; i+1 < len(added.Content) && added.Kind == yaml.MappingNode; i += 2 {
		if key := added.Content[i]; indexOf(builtIn, key.Value) < 0 {
			builtIn.Content = append(builtIn.Content, key, clone(builtIn.Content[settings]))
		}
	}
}

func clone(n *yaml.Node) *yaml.Node {
	c := *n
	c.Content = nil
	for _, child := range n.Content {
		c.Content = append(c.Content, clone(child))
	}
	return &c
}

// indexOf is where in a mapping's content the value of key stands, or -1.
func indexOf(n *yaml.Node, key string) int {
	if n.Kind == yaml.MappingNode {
		for i := 0; i+1 < len(n.Content); i += 2 {
			if n.Content[i].Value == key {
				return i + 1
			}
		}
	}
	return -1
}

// lineOf finds the line of the setting, or of the nearest one above it, in a tree, and reports
// whether the tree holds the setting, or the list that it is a place in. A number is such a place.
func lineOf(n *yaml.Node, key string) (line int, held bool) {
	for part := range strings.SplitSeq(key, ".") {
		held = n.Kind == yaml.SequenceNode
		if at, err := strconv.Atoi(part); err == nil && held && at < len(n.Content) {
			line, n = n.Content[at].Line, n.Content[at]
			continue
		}
		at := indexOf(n, part)
		if at < 0 {
			return line, held
		}
		line, n = n.Content[at-1].Line, n.Content[at]
	}
	return line, true
}

func join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}

// Digests returns a hash of each section's settings. Equal settings have equal hashes, and a hash
// does not reveal them.
func (c *Config) Digests() (map[string]string, error) {
	text, err := yaml.Marshal(c)
	if err != nil {
		return nil, err
	}
	sections := map[string]any{}
	if err := yaml.Unmarshal(text, &sections); err != nil {
		return nil, err
	}
	digests := map[string]string{}
	for name, section := range sections {
		b, err := yaml.Marshal(section)
		if err != nil {
			return nil, err
		}
		sum := sha256.Sum256(b)
		digests[name] = hex.EncodeToString(sum[:])
	}
	return digests, nil
}
