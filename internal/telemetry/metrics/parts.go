package metrics

import (
	"maps"
)

type panics struct {
	ByPart map[string]int64 `metric:"panics_total" label:"part" help:"Recovered panics, by part of the program. Each is a bug; its stack is in the log."`
}

// Panics sets the source of the number of caught panics by part, which is called at each
// scrape.
func (r *Registry) Panics(counts func() map[string]int64) {
	Pull(r, func() panics {
		byPart := map[string]int64{other: 0}
		maps.Copy(byPart, counts())
		return panics{byPart}
	})
}

type quotas struct {
	Refused map[string]int64 `metric:"quota_refusals_total" label:"quota" help:"Writes refused by a quota: workspaces, tools, originals or bytes."`
}

// Quotas sets the source of the number of refusals by quota, which is called at each scrape.
func (r *Registry) Quotas(refused func() map[string]int64) {
	Pull(r, func() quotas { return quotas{refused()} })
}

type requests struct {
	InFlight int64 `metric:"http_requests_in_flight" help:"Running requests."`
}

// InFlight sets the source of the number of running requests, which is called at each scrape.
func (r *Registry) InFlight(n func() int64) {
	Pull(r, func() requests { return requests{n()} })
}
