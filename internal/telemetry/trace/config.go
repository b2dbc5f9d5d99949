package trace

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"
)

// Config is the trace section of the configuration.
type Config struct {
	// Endpoint is the base address of a collector that accepts OTLP over HTTP, such as
	// http://127.0.0.1:4318; "" turns tracing off.
	Endpoint string `yaml:"otlp_endpoint"`
	// Sample is the share of requests that are traced, from 0 to 1. For a request with a
	// traceparent header, the header decides.
	Sample float64 `yaml:"sample" must:"0 to 1"`
	// HashNames replaces the names of workspaces and tools by a hash.
	HashNames bool `yaml:"hash_names"`
	// Queue is how many spans may wait to be sent; further ones are dropped.
	Queue int `yaml:"-"`
	// Timeout limits the sending of one batch, including retries.
	Timeout time.Duration `yaml:"-"`
	// StopTimeout is how long Stop may take to send the waiting spans.
	StopTimeout time.Duration `yaml:"-"`
}

// UnmarshalYAML decodes a section and keeps constants that are not settings: 4 MiB of waiting
// spans, a batch delay of a few seconds, and a stop that no collector can delay.
func (c *Config) UnmarshalYAML(unmarshal func(any) error) error {
	type settings Config
	c.Queue, c.Timeout, c.StopTimeout = 4096, 10*time.Second, 3*time.Second
	return unmarshal((*settings)(c))
}

// Validate returns the first invalid setting.
func (c Config) Validate() error {
	if c.Endpoint != "" {
		if _, err := tracesURL(c.Endpoint); err != nil {
			return fmt.Errorf("otlp_endpoint: %w", err)
		}
	}
	return nil
}

// tracesPath is where a collector takes spans, below its base address
// (https://opentelemetry.io/docs/specs/otel/protocol/exporter/).
const tracesPath = "/v1/traces"

// tracesURL is where the spans go. A password in it is refused, since the
// address is logged: the environment's OTEL_EXPORTER_OTLP_HEADERS has a place
// for secrets.
func tracesURL(endpoint string) (*url.URL, error) {
	u, err := url.Parse(endpoint)
	switch {
	case err != nil:
		return nil, errors.New("must be an address such as http://127.0.0.1:4318")
	case u.Scheme != "http" && u.Scheme != "https", u.Host == "":
		return nil, errors.New("must be an address such as http://127.0.0.1:4318")
	case u.User != nil, u.RawQuery != "", u.Fragment != "":
		return nil, errors.New("must hold neither a user nor a query; secrets go into OTEL_EXPORTER_OTLP_HEADERS")
	}
	if path := strings.TrimRight(u.Path, "/"); !strings.HasSuffix(path, tracesPath) {
		u.Path = path + tracesPath
	}
	return u, nil
}
