package preflight

import (
	"cmp"
	"slices"
)

// matrix is the vectors of calls, those of equal calls once. Sums are taken four at a time, because one alone would wait for each of its
// additions; each is added up in its own order all the same.
type matrix struct {
	vector           // of the different rows, one after the other
	ends     []int32 // where each of them ends
	place    []int32 // of each row among them
	byLength []int32 // them, in order of their lengths
}

func (m *matrix) rows() int { return len(m.place) }

// different is row i of the different ones.
func (m *matrix) different(i int32) vector {
	from := int32(0)
	if i > 0 {
		from = m.ends[i-1]
	}
	return vector{m.features[from:m.ends[i]], m.weights[from:m.ends[i]]}
}

// matrixOf holds the vectors of calls.
func (h *history) matrixOf(v *vocabulary, docs *bags, calls []int32) matrix {
	m := matrix{place: make([]int32, len(calls))}
	m.vector = vector{make([]int32, 0, v.entries), make([]float64, 0, v.entries)}
	place := make([]int32, len(h.calls)) // by call, of the first that is equal: 1 + its place
	for i, call := range calls {
		first := &place[h.first[call]]
		if *first == 0 {
			m.vector = v.learned(m.vector, docs.of(int(call)))
			m.ends = append(m.ends, int32(len(m.features))) //nolint:gosec // bounded by calls times features of one
			*first = int32(len(m.ends))                     //nolint:gosec // at most maxCalls
		}
		m.place[i] = *first - 1
	}
	m.byLength = make([]int32, len(m.ends))
	for i := range m.byLength {
		m.byLength[i] = int32(i) //nolint:gosec // at most maxCalls
	}
	slices.SortFunc(m.byLength, func(a, b int32) int { return cmp.Compare(len(m.different(a).features), len(m.different(b).features)) })
	return m
}

// times multiplies the matrix with w; room is for as many numbers as rows.
func (m *matrix) times(w, out, room []float64) {
	order := m.byLength
	for ; len(order) >= 4; order = order[4:] {
		a, b, c, d := m.different(order[0]), m.different(order[1]), m.different(order[2]), m.different(order[3])
		n := len(a.features) // no other is shorter
		av, bf, bv, cf, cv, df, dv := a.weights[:n], b.features[:n], b.weights[:n], c.features[:n], c.weights[:n], d.features[:n], d.weights[:n]
		var sa, sb, sc, sd float64
		for k, f := range a.features {
			sa += av[k] * w[f]
			sb += bv[k] * w[bf[k]]
			sc += cv[k] * w[cf[k]]
			sd += dv[k] * w[df[k]]
		}
		room[order[0]], room[order[1]], room[order[2]], room[order[3]] = sa, b.rest(n, sb, w), c.rest(n, sc, w), d.rest(n, sd, w)
	}
	for _, i := range order {
		room[i] = m.different(i).dot(w)
	}
	for i, place := range m.place {
		out[i] = room[place]
	}
}

// rest goes on with a sum from the entry n on.
func (x vector) rest(n int, sum float64, w []float64) float64 {
	weights := x.weights[:len(x.features)]
	for k := n; k < len(x.features); k++ {
		sum += weights[k] * w[x.features[k]]
	}
	return sum
}

// spread adds by[i] times row i to a point, for all rows in order.
func (m *matrix) spread(point, by []float64) {
	for i, place := range m.place {
		x, b := m.different(place), by[i]
		weights := x.weights[:len(x.features)]
		for k, f := range x.features {
			point[f] += b * weights[k]
		}
	}
}

// columns are the entries of a matrix by feature: in which rows, in their order,
// and with what weight.
type columns struct {
	from []int32 // where those of each feature begin; one more for the end
	in   []int32
	with []float64
}

func (m *matrix) transposed(features int) columns {
	c := columns{from: make([]int32, features+1)}
	for _, place := range m.place {
		for _, f := range m.different(place).features {
			c.from[f+1]++
		}
	}
	for f := range features {
		c.from[f+1] += c.from[f]
	}
	c.in, c.with = make([]int32, c.from[features]), make([]float64, c.from[features])
	next := slices.Clone(c.from)
	for i, place := range m.place {
		x := m.different(place)
		for k, f := range x.features {
			c.in[next[f]], c.with[next[f]] = int32(i), x.weights[k] //nolint:gosec // at most maxCalls
			next[f]++
		}
	}
	return c
}

// column is the rows that have a feature, and its weights there.
func (c *columns) column(f int32) ([]int32, []float64) {
	return c.in[c.from[f]:c.from[f+1]], c.with[c.from[f]:c.from[f+1]]
}
