package records

import (
	"fmt"
	"strings"
	"testing"
)

// Of each line only the newest listing is known: else reading a file a hundred times would compare
// each listing with all before it.
func TestAListingIsComparedWithTheNewestOnly(t *testing.T) {
	s := &Set{listed: map[string]*listing{}}
	var all []*listing
	for i := range 50 {
		var text strings.Builder
		for n := 1; n <= 20; n++ {
			fmt.Fprintf(&text, "%d: a line of the file that says %d\n", n, n)
		}
		x := listingOf(text.String())
		x.items[&item{head: &item{}}] = i%20 + 1
		s.relist(x, "read")
		all = append(all, x)
	}
	for i, x := range all {
		for it := range x.items {
			if last := i == len(all)-1; it.stale == last {
				t.Errorf("listing %d of %d: stale is %v", i, len(all), it.stale)
			}
		}
	}
	holders := map[*listing]bool{}
	for _, x := range s.listed {
		holders[x] = true
	}
	if len(holders) != 1 || len(s.listed) != 20 {
		t.Errorf("%d listings are known by %d lines", len(holders), len(s.listed))
	}
}
