package guidelines

import (
	"testing"

	"memoryd/guidelines/evidence"
)

func TestAFormOfWhichNoWordMayBeShownIsNotTold(t *testing.T) {
	x := &evidence.Exemplar{Calls: 9, Good: 9, Frames: map[string]*evidence.Frame{
		"query": {Text: "SELECT … FROM …", Calls: 8, Of: 9},
		"data":  {Text: "[{'name': 'jane.roe@example.org', 'value': … N", Calls: 8, Of: 9},
	}}
	forms := framesOf(x)
	if len(forms) != 1 || forms["query"] != "SELECT … FROM …" {
		t.Errorf("got %v", forms)
	}
	if got, want := like(x, ""), "9 of 9 good calls gave these parameters; 8 of 9 `query` in this form"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
