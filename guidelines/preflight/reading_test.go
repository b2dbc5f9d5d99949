package preflight

import (
	"fmt"
	"testing"
)

// The hashes of single values were added up as they were: {"a":1,"b":0} was taken for {"a":0,"b":1}, and its failures
// for those of the other.
func TestInputsWhoseNumbersChangePlacesAreDifferent(t *testing.T) {
	seen := map[uint64]string{}
	for n := range 512 {
		input := fmt.Sprintf(`{"n":%d,"min_digits":%d,"max_digits":%d}`, n/64, n/8%8, n%8)
		id := identityOf(leavesOf([]byte(input)))
		if other := seen[id]; other != "" {
			t.Fatalf("%s is taken for %s", input, other)
		}
		seen[id] = input
	}
}
