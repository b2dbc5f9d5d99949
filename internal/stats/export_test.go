package stats

// BoundedMeanInterval and MeanInterval are intervals for means.
var (
	BoundedMeanInterval = boundedMeanInterval
	MeanInterval        = meanInterval
)
