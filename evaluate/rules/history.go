package rules

import "fmt"

// unlike reports whether the output has a shape that the tool's successes, of
// which there are enough, practically never have: prose from a tool that
// otherwise returns structures.
func (v *view) unlike() bool {
	p := v.prof
	if p == nil || p.successes < int64(v.cfg.MinHistory) {
		return false
	}
	s := shapeOf(v.call.Output)
	if s != shapeText && s != shapeMarkup {
		return false
	}
	return p.share(s) <= 0.02 && p.share(shapeObject)+p.share(shapeArray)+p.share(shapeNothing) >= 0.9
}

// unlikeSuccesses: prose, with or without a word of trouble, from a tool that
// otherwise returns structures.
func unlikeSuccesses(v *view) (finding, bool) {
	if !v.unlike() || !v.out.short(40, 4000) {
		return finding{}, false
	}
	why := fmt.Sprintf("text, while all %d successes known of this tool are structured", v.prof.successes)
	if _, ok := clouded(v.out); ok {
		return fails("unlike-successes", strongestLine(v.out), why).unsure(), true
	}
	return half("unlike-successes", v.out.first().s, why), true
}

// costOutlier: the call took far longer than the tool's successes. Tokens are
// not compared: hosts report those of the prompt, which grows with the
// conversation, whatever the tool does.
func costOutlier(v *view) (finding, bool) {
	p := v.prof
	if p == nil {
		return finding{}, false
	}
	return v.compare(&p.times, v.call.TimeCost, v.cfg.CostSeconds, "%.3g s, while the median of %d successes is %.3g s")
}

func (v *view) compare(r *ring, cost, least float64, format string) (finding, bool) {
	if cost <= 0 || len(r.values) < v.cfg.MinHistory {
		return finding{}, false
	}
	median, mad := r.spread()
	if cost <= median+v.cfg.CostMADs*mad || cost <= v.cfg.CostRatio*median || cost-median <= least {
		return finding{}, false
	}
	f := half("cost-outlier", "", fmt.Sprintf("it works but took "+format, cost, len(r.values), median))
	f.cause = causeCost
	return f, true
}
