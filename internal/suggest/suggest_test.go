package suggest_test

import (
	"testing"

	"memoryd/internal/suggest"
)

func TestNearest(t *testing.T) {
	t.Parallel()
	names := []string{"search", "web_search", "größe", "calls", "serve"}
	for written, want := range map[string]string{
		"serach": "search", "Search": "search", "web_serch": "web_search", "groesse": "", "größer": "größe", "sreve": "serve",
		"web": "web_search", "zzz": "", "": "", "cal": "calls",
	} {
		if got := suggest.Nearest(written, names); got != want {
			t.Errorf("%q: got %q, want %q", written, got, want)
		}
	}
}
