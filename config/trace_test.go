package config_test

import (
	"testing"

	"memoryd/config"
)

func TestTheCollectorComesFromTheUsualVariableUnlessOursIsSet(t *testing.T) {
	const usual, ours = "OTEL_EXPORTER_OTLP_ENDPOINT=http://usual:4318", "MEMORYD_TRACE_OTLP_ENDPOINT=http://ours:4318"
	for name, tc := range map[string]struct {
		environ []string
		want    string
	}{
		"none":                 {nil, "http://file:4318"},
		"the usual one":        {[]string{usual}, "http://usual:4318"},
		"both":                 {[]string{usual, ours}, "http://ours:4318"},
		"ours turns it off":    {[]string{usual, "MEMORYD_TRACE_OTLP_ENDPOINT="}, ""},
		"an empty usual one":   {[]string{"OTEL_EXPORTER_OTLP_ENDPOINT="}, "http://file:4318"},
		"a share, as a number": {[]string{ours, "MEMORYD_TRACE_SAMPLE=0.1"}, "http://ours:4318"},
	} {
		t.Run(name, func(t *testing.T) {
			c, err := config.Parse([]byte("trace: {otlp_endpoint: 'http://file:4318'}\n"), "f.yaml", tc.environ)
			if err != nil {
				t.Fatal(err)
			}
			if c.Trace.Endpoint != tc.want {
				t.Errorf("got %q, want %q", c.Trace.Endpoint, tc.want)
			}
		})
	}
}
