package qdrant

import (
	qd "github.com/qdrant/go-client/qdrant"
)

func all(must ...*qd.Condition) *qd.Filter { return &qd.Filter{Must: must} }

func is(field, value string) *qd.Condition { return qd.NewMatchKeyword(field, value) }

func isInt(field string, value int64) *qd.Condition { return qd.NewMatchInt(field, value) }

// atLeast, above and upTo compare a whole number below 2^53.
func atLeast(field string, n int64) *qd.Condition {
	return qd.NewRange(field, &qd.Range{Gte: qd.PtrOf(float64(n))})
}

func above(field string, n int64) *qd.Condition {
	return qd.NewRange(field, &qd.Range{Gt: qd.PtrOf(float64(n))})
}

func between(field string, from, to int64) *qd.Condition {
	return qd.NewRange(field, &qd.Range{Gte: qd.PtrOf(float64(from)), Lte: qd.PtrOf(float64(to))})
}

// nothing holds for no point: no point has the field.
func nothing() *qd.Filter { return all(is("never", "ever")) }

func ascending(field string, from *int64) *qd.OrderBy {
	return order(field, qd.Direction_Asc, from)
}

func descending(field string, from *int64) *qd.OrderBy {
	return order(field, qd.Direction_Desc, from)
}

func order(field string, d qd.Direction, from *int64) *qd.OrderBy {
	o := &qd.OrderBy{Key: field, Direction: d.Enum()}
	if from != nil {
		o.StartFrom = qd.NewStartFromInt(*from)
	}
	return o
}
