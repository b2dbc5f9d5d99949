package search

import (
	"cmp"
	"slices"
)

// vectorSet holds the vectors of a workspace, in byte order of the names.
type vectorSet struct {
	names   []string
	vectors [][]float32
	bytes   int64
}

// nameBytes is what a name costs beside its letters, vectors included.
const nameBytes = 64

func (s *vectorSet) add(name string, vector []float32) {
	s.names = append(s.names, name)
	s.vectors = append(s.vectors, vector)
	s.bytes += int64(nameBytes + len(name) + 4*len(vector))
}

// found is a tool and its cosine with the query.
type found struct {
	name   string
	cosine float64
}

// before orders by cosine, the largest first, and equals by name.
func (f found) before(g found) int {
	return cmp.Or(cmp.Compare(g.cosine, f.cosine), cmp.Compare(f.name, g.name))
}

// nearest gives the n names whose vectors have the largest cosine with query, the
// best first, without those below least. Vectors of another length than the
// query's are of another model and not compared.
func (s *vectorSet) nearest(query []float32, n int, least float64) []string {
	best := make([]found, 0, n+1)
	for i, v := range s.vectors {
		if len(v) != len(query) {
			continue
		}
		f := found{s.names[i], dot(query, v)}
		if !(f.cosine >= least) || len(best) == n && f.before(best[n-1]) >= 0 {
			continue
		}
		at, _ := slices.BinarySearchFunc(best, f, found.before)
		best = slices.Insert(best, at, f)
		best = best[:min(n, len(best))]
	}
	names := make([]string, len(best))
	for i, f := range best {
		names[i] = f.name
	}
	return names
}

// dot is the cosine of two vectors of length 1. Four sums let the processor work on
// several products at once.
func dot(a, b []float32) float64 {
	var s0, s1, s2, s3 float32
	i := 0
	for ; i+4 <= len(a) && i+4 <= len(b); i += 4 {
		s0 += a[i] * b[i]
		s1 += a[i+1] * b[i+1]
		s2 += a[i+2] * b[i+2]
		s3 += a[i+3] * b[i+3]
	}
	for ; i < len(a) && i < len(b); i++ {
		s0 += a[i] * b[i]
	}
	return float64(s0) + float64(s1) + float64(s2) + float64(s3)
}
