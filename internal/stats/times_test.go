package stats_test

import (
	"testing"
	"time"

	"memoryd/internal/stats"
)

func TestTheEarlierOfTwoTimesIsOneThatIsKnown(t *testing.T) {
	var unknown time.Time
	early := time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC)
	late := early.Add(time.Hour)
	for _, c := range [][3]time.Time{
		{early, late, early}, {late, early, early}, {unknown, late, late}, {late, unknown, late}, {unknown, unknown, unknown},
	} {
		if got := stats.Earlier(c[0], c[1]); got != c[2] {
			t.Errorf("of %v and %v: %v", c[0], c[1], got)
		}
	}
}
