package qdrant

import (
	"cmp"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"os"
	"strings"
	"time"

	"memoryd/store"
)

// Config says where the Qdrant servers are and how they keep the data.
type Config struct {
	// Host and Port are the gRPC address of a server, or of a proxy before several.
	Host string `yaml:"host"`
	Port int    `yaml:"port"`
	// TLS encrypts the connection. Without it, an API key is sent unencrypted.
	TLS bool `yaml:"tls"`
	// CAFile is a file of PEM certificates to verify the server with; "" means those of the system.
	// It requires TLS.
	CAFile string `yaml:"ca_file"`
	// APIKeyEnv is the environment variable that holds the API key; "" means none.
	APIKeyEnv string `yaml:"api_key_env"`
	// Prefix starts the names of all collections, so that several installations can share a server.
	Prefix string `yaml:"prefix"`
	// Connections is the number of connections.
	Connections int `yaml:"-"`

	// ReplicationFactor, WriteConsistencyFactor and Shards (of calls, and of documents) apply
	// when the collections are created, and are not changed later. The collections' own
	// settings count: if a shard has several copies, deciding reads ask a majority of them
	// (or all, if writes need not reach enough for that), and writes that compare go through
	// the shard's leader.
	ReplicationFactor      int `yaml:"replication_factor"`
	WriteConsistencyFactor int `yaml:"write_consistency_factor"`
	Shards                 int `yaml:"shards"`
	// Timeout limits one attempt of a request, and Patience all attempts together.
	Timeout  time.Duration `yaml:"timeout"`
	Patience time.Duration `yaml:"patience"`
	// Retries limits the retries of a request.
	Retries int `yaml:"-"`
	// Remember is the number of newest calls of all tools that are remembered by key and content
	// after their histories dropped them.
	Remember int `yaml:"-"`
	// VerdictCache is the number of newest cached verdicts.
	VerdictCache int `yaml:"-"`
}

// toolShards is how many shards the collection of tools has: a server counts words by
// shard, so with several a search would rank tools by what is rare in the shard of each.
const toolShards = 1

// flushInterval is how often a server works its write-ahead log off into its files: how
// much it reads again after a crash. What it acknowledged is in that log, flushed.
const flushInterval = time.Second

// maxReplyBytes bounds one message to or from a server: twice what one may hold.
const maxReplyBytes = 64 << 20

// UnmarshalYAML decodes a section and keeps constants that are not settings.
func (c *Config) UnmarshalYAML(unmarshal func(any) error) error {
	type settings Config
	c.Connections, c.Retries, c.Remember, c.VerdictCache = 3, 6, 2_000_000, 200_000
	return unmarshal((*settings)(c))
}

// maxFactor bounds the numbers of replicas and shards.
const maxFactor = 1024

// Validate returns the first invalid setting.
func (c Config) Validate() error {
	if c.Host == "" {
		return fmt.Errorf("host: must name a server")
	}
	if len(c.Prefix) > 64 || strings.Trim(c.Prefix, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") != "" {
		return fmt.Errorf("prefix: may hold up to 64 letters, digits, '_' and '-', not %q", c.Prefix)
	}
	if c.CAFile != "" && !c.TLS {
		return fmt.Errorf("ca_file: needs tls")
	}
	return cmp.Or(
		store.Within("port", c.Port, 1, 65535),
		store.Within("replication_factor", c.ReplicationFactor, 1, maxFactor),
		store.Within("write_consistency_factor", c.WriteConsistencyFactor, 1, c.ReplicationFactor),
		store.Within("shards", c.Shards, 1, maxFactor),
		store.Within("timeout", c.Timeout, 10*time.Millisecond, time.Hour), store.Within("patience", c.Patience, c.Timeout, time.Hour),
	)
}

// trust is how the server's certificate is checked; nil means by the client's own
// settings.
func (c Config) trust() (*tls.Config, error) {
	if c.CAFile == "" {
		return nil, nil //nolint:nilnil // the default
	}
	pem, err := os.ReadFile(c.CAFile)
	if err != nil {
		return nil, fmt.Errorf("ca_file: %w", err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("ca_file: %s holds no certificate", c.CAFile)
	}
	return &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}, nil
}
