package metrics

import "maps"

var panics = Metric{
	Name: "memoryd_panics_total", Type: Counter, Labels: []string{"part"},
	Help: "Panics that were caught, by the part of the program: each is a defect, and its stack is in the log. The series other is always there.",
}

// Panics asks at each scrape for the number of caught panics by part.
func (r *Registry) Panics(counts func() map[string]int64) {
	r.pull([]Metric{panics}, func(e emit) {
		byPart := map[string]int64{other: 0}
		maps.Copy(byPart, counts())
		byWord(e, panics, byPart)
	})
}
