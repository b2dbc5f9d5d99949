package rules

import (
	"fmt"
	"testing"
)

func TestTwoParametersThatWereAlwaysMissingTogetherAreToldAtOnce(t *testing.T) {
	for _, tc := range []struct{ full, want string }{
		{`{"file_path":"a","n":1}`, "Always give `file_path` and `n`\n"},
		{`{"files":[{"file_path":"a","n":1},{"file_path":"b","n":1}]}`, "Always give `file_path` and `n` in each of `files`\n"},
	} {
		var calls []Call
		for i := range 30 {
			calls = append(calls, good(i, tc.full))
		}
		for i := range 4 {
			empty := fmt.Sprintf(`{"q":"a%d"}`, i)
			if tc.full[2:7] == "files" {
				empty = `{"files":[{"q":"a"}]}`
			}
			calls = append(calls, bad(40+i, empty, "E17"))
		}
		if got := lines(Find("own", calls)); got != tc.want {
			t.Errorf("got %q, want %q", got, tc.want)
		}
	}
}
