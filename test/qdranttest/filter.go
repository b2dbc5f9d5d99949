package qdranttest

import (
	"maps"
	"slices"

	qd "github.com/qdrant/go-client/qdrant"
)

// holds reports whether a filter holds for a point; an empty one holds for all.
func holds(f *qd.Filter, p *stored) bool {
	for _, c := range f.GetMust() {
		if !condition(c, p) {
			return false
		}
	}
	for _, c := range f.GetMustNot() {
		if condition(c, p) {
			return false
		}
	}
	return len(f.GetShould()) == 0 ||
		slices.ContainsFunc(f.GetShould(), func(c *qd.Condition) bool { return condition(c, p) })
}

func condition(c *qd.Condition, p *stored) bool {
	switch of := c.GetConditionOneOf().(type) {
	case *qd.Condition_HasId:
		return slices.ContainsFunc(of.HasId.GetHasId(), func(id *qd.PointId) bool { return idText(id) == p.id })
	case *qd.Condition_Filter:
		return holds(of.Filter, p)
	case *qd.Condition_IsEmpty:
		return empty(p.payload[of.IsEmpty.GetKey()])
	case *qd.Condition_Field:
		return fieldHolds(of.Field, p.payload[of.Field.GetKey()])
	}
	return false
}

func empty(v *qd.Value) bool {
	switch k := v.GetKind().(type) {
	case nil, *qd.Value_NullValue:
		return true
	case *qd.Value_ListValue:
		return len(k.ListValue.GetValues()) == 0
	}
	return false
}

func fieldHolds(f *qd.FieldCondition, v *qd.Value) bool {
	if r := f.GetRange(); r != nil {
		n, ok := number(v)
		return ok && (r.Gt == nil || n > r.GetGt()) && (r.Gte == nil || n >= r.GetGte()) &&
			(r.Lt == nil || n < r.GetLt()) && (r.Lte == nil || n <= r.GetLte())
	}
	switch m := f.GetMatch().GetMatchValue().(type) {
	case *qd.Match_Keyword:
		k, ok := v.GetKind().(*qd.Value_StringValue)
		return ok && k.StringValue == m.Keyword
	case *qd.Match_Keywords:
		k, ok := v.GetKind().(*qd.Value_StringValue)
		return ok && slices.Contains(m.Keywords.GetStrings(), k.StringValue)
	case *qd.Match_Integer:
		k, ok := v.GetKind().(*qd.Value_IntegerValue)
		return ok && k.IntegerValue == m.Integer
	}
	return false
}

// number gives a number as a filter's range sees it: as a double.
func number(v *qd.Value) (float64, bool) {
	switch k := v.GetKind().(type) {
	case *qd.Value_IntegerValue:
		return float64(k.IntegerValue), true
	case *qd.Value_DoubleValue:
		return k.DoubleValue, true
	}
	return 0, false
}

// selected gives what a payload selector asks for.
func selected(with *qd.WithPayloadSelector, p *stored) map[string]*qd.Value {
	switch of := with.GetSelectorOptions().(type) {
	case *qd.WithPayloadSelector_Enable:
		if of.Enable {
			return p.payload
		}
	case *qd.WithPayloadSelector_Exclude:
		out := maps.Clone(p.payload)
		for _, field := range of.Exclude.GetFields() {
			delete(out, field)
		}
		return out
	case *qd.WithPayloadSelector_Include:
		out := map[string]*qd.Value{}
		for _, field := range of.Include.GetFields() {
			if v, ok := p.payload[field]; ok {
				out[field] = v
			}
		}
		return out
	}
	return nil
}
