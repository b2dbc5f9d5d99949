package rules

import (
	"iter"
	"strings"
)

// element is what one element of a list gives, under the paths that it has for all of them.
type element struct {
	of    string // the list; "" for none
	gives map[string]value
}

// elementsOf lists the elements of the lists in an input, by the list.
func elementsOf(leaves []Leaf) map[string][]row {
	var out map[string][]row
	for i := range leaves {
		path := leaves[i].Path
		list := listOf(path)
		if list == "" {
			continue
		}
		if out == nil {
			out = map[string][]row{}
		}
		all := out[list]
		if path == list+"[]" {
			one := row{element: element{list, map[string]value{}}}
			all = append(all, one)
			out[list] = all
		}
		if len(all) > 0 {
			give(all[len(all)-1].gives, leaves[i:])
		}
	}
	for list, all := range out {
		out[list] = all[:min(len(all), maxElements)]
	}
	return out
}

// get is what the call gives for a parameter, or the element that is looked at.
func (r *row) get(p string) value {
	if r.of != "" && listOf(p) == r.of {
		return r.gives[p]
	}
	return r.in[p]
}

// some reports whether it is so of the call, or of one of the elements of a list.
func (r *row) some(list string, is func(r *row) bool) bool {
	if list == "" {
		return is(r)
	}
	for i := range r.elements[list] {
		if is(&r.elements[list][i]) {
			return true
		}
	}
	return false
}

// values are what the call gives for a parameter: one value, or that of each element of a list.
func (r *row) values(p string) iter.Seq[value] {
	return func(yield func(value) bool) {
		r.some(listOf(p), func(one *row) bool {
			v := one.get(p)
			return v.kind != absent && !yield(v)
		})
	}
}

// has reports whether it is so of one of these values.
func (r *row) has(p string, is func(v value) bool) bool {
	for v := range r.values(p) {
		if is(v) {
			return true
		}
	}
	return false
}

// listOf is the list that the value at a path is an element of, or a member of an element; "" for another path.
func listOf(path string) string {
	path, _ = base(path)
	if list, is := strings.CutSuffix(path, "[]"); is {
		return list
	}
	list, _ := inList(path)
	return list
}

// inList parts the path of a member of a list's elements; list is "" for another path.
func inList(path string) (list, member string) {
	at := max(0, strings.LastIndex(path, "[]."))
	return path[:at], strings.TrimPrefix(path[at:], "[].")
}
