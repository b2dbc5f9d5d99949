package transcripts

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
)

// A member that no reader knows is a slip of the pen.
func TestTheTablesHoldOnlyWhatIsRead(t *testing.T) {
	for name, table := range map[string]struct {
		text []byte
		into any
	}{"hosts": {hostTable, new(map[string]host)}, "dialects": {dialectTable, new([]dialect)}} {
		dec := json.NewDecoder(bytes.NewReader(table.text))
		dec.DisallowUnknownFields()
		if err := dec.Decode(table.into); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if len(hosts()) != 8 || len(dialects()) != 9 {
		t.Errorf("%d hosts, %d dialects", len(hosts()), len(dialects()))
	}
}

func TestAnEventThatNamesNoToolIsNoCall(t *testing.T) {
	event := map[string]jsontext.Value{"event.name": jsontext.Value(`"tool_result"`)}
	if _, skipped := spanCall(&Span{Attributes: event}); skipped != noCall {
		t.Errorf("without a tool: %q", skipped)
	}
	event["tool_name"] = jsontext.Value(`"Bash"`)
	if c, skipped := spanCall(&Span{Attributes: event}); skipped != "" || c.Source != "otlp:claude-code" {
		t.Errorf("with one: %q, of %s", skipped, c.Source)
	}
}
