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

// Config is where the Qdrant servers are and how they shall keep the data.
type Config struct {
	// Host and Port are the gRPC address of a server, or of what stands before
	// several.
	Host string `yaml:"host"`
	Port int    `yaml:"port"`
	// TLS encrypts the connection. An API key without it travels in the clear.
	TLS bool `yaml:"tls"`
	// CAFile is a file of certificates (PEM) that vouch for the server's, in place of
	// the system's; "" means those. It needs TLS.
	CAFile string `yaml:"ca_file"`
	// APIKeyEnv names the environment variable that holds the API key; "" means
	// none.
	APIKeyEnv string `yaml:"api_key_env"`
	// Prefix begins the names of all collections, so that several memoryds can
	// share a server.
	Prefix string `yaml:"prefix"`
	// Connections is how many connections share the load.
	Connections int `yaml:"connections"`

	// ReplicationFactor, WriteConsistencyFactor, Shards (those of tools are ToolShards) and
	// FlushInterval are given to the collections when they are made, and not changed later. What the collections
	// have is what holds: where a shard has several copies, deciding reads ask a
	// majority of them (or all, where writes need not reach enough for that) and
	// writes that compare go through the shard's leader.
	ReplicationFactor      int `yaml:"replication_factor"`
	WriteConsistencyFactor int `yaml:"write_consistency_factor"`
	Shards                 int `yaml:"shards"`
	// ToolShards is for the collection of tools. A server counts words by shard, so with
	// several a search ranks tools by what is rare in the shard of each.
	ToolShards int `yaml:"tool_shards"`
	// FlushInterval is how often a server works its write-ahead log off into its
	// files: how much it reads again after a crash. What it acknowledged is in that
	// log, flushed, whatever the interval. Whole seconds.
	FlushInterval time.Duration `yaml:"flush_interval"`

	// Strict refuses collections that have other settings than these; else they are
	// used as they are, and the differences reported.
	Strict bool `yaml:"strict"`

	// Timeout bounds one request, Patience all tries of it together.
	Timeout  time.Duration `yaml:"timeout"`
	Patience time.Duration `yaml:"patience"`
	// Retries is how often a request is tried again at most.
	Retries int `yaml:"retries"`
	// MaxReplyBytes bounds one reply of the server.
	MaxReplyBytes int `yaml:"max_reply_bytes"`

	// Remember is how many of the newest accepted calls, of all tools, are
	// recognised by key and content after their history let them go.
	Remember int `yaml:"remember"`
	// VerdictCache is how many of the newest cached verdicts are kept.
	VerdictCache int `yaml:"verdict_cache"`
}

// DefaultConfig gives the settings that default.yaml documents.
func DefaultConfig() Config {
	return Config{
		Host: "127.0.0.1", Port: 6334, Prefix: "memoryd_", Connections: 3,
		ReplicationFactor: 1, WriteConsistencyFactor: 1, Shards: 1, ToolShards: 1, FlushInterval: time.Second,
		Timeout: 10 * time.Second, Patience: 25 * time.Second, Retries: 6, MaxReplyBytes: 64 << 20,
		Remember: 2_000_000, VerdictCache: 200_000,
	}
}

// maxFactor bounds the numbers of replicas and shards.
const maxFactor = 1024

// Validate names the first setting that cannot work.
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
		store.Within("port", c.Port, 1, 65535), store.Within("connections", c.Connections, 1, 64),
		store.Within("replication_factor", c.ReplicationFactor, 1, maxFactor),
		store.Within("write_consistency_factor", c.WriteConsistencyFactor, 1, c.ReplicationFactor),
		store.Within("shards", c.Shards, 1, maxFactor), store.Within("tool_shards", c.ToolShards, 1, maxFactor), store.Within("retries", c.Retries, 0, 100),
		store.Within("max_reply_bytes", c.MaxReplyBytes, 32<<20, 1<<30), store.Within("remember", int64(c.Remember), 1, 1<<32),
		store.Within("verdict_cache", int64(c.VerdictCache), 1, 1<<32),
		store.Within("flush_interval", c.FlushInterval, time.Second, time.Hour),
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
