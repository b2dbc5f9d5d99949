// Package config reads the configuration: the built-in default.yaml, a file
// with what differs, and the environment, in rising precedence. It is strict:
// an unknown key or a value that cannot work is an error with its line. Every
// section's type belongs to the package that it configures.
package config

import (
	"path/filepath"
	"time"

	"memoryd/api"
	"memoryd/compact"
	"memoryd/evaluate"
	"memoryd/guidelines"
	"memoryd/guidelines/revisions"
	"memoryd/internal/telemetry/trace"
	"memoryd/llm"
	"memoryd/llm/usage"
	"memoryd/ops"
	"memoryd/store/qdrant"
	"memoryd/store/sqlite"

	"go.yaml.in/yaml/v3"
)

// Config is the whole configuration.
type Config struct {
	HTTP api.Config `yaml:"http"`
	// UI says whether the dashboard is served at /ui/.
	UI         bool                  `yaml:"ui"`
	Log        Log                   `yaml:"log"`
	Store      Store                 `yaml:"store"`
	LLM        map[string]llm.Config `yaml:"llm"`
	Evaluate   evaluate.Config       `yaml:"evaluate"`
	Guidelines guidelines.Config     `yaml:"guidelines"`
	Revisions  revisions.Config      `yaml:"revisions"`
	Compact    compact.Config        `yaml:"compact"`
	Usage      usage.Config          `yaml:"usage"`
	Privacy    ops.Privacy           `yaml:"privacy"`
	Quotas     ops.Quotas            `yaml:"quotas"`
	Trace      trace.Config          `yaml:"trace"`
	Op         map[string]Op         `yaml:"op"`
	Flow       map[string][]string   `yaml:"flow"`

	// Plan is what Op and Flow come to.
	Plan *ops.Plan `yaml:"-"`
	// Incomplete serves a store that holds a part of what was to come into it.
	Incomplete bool `yaml:"-"`
	// Unused are variables of the environment that look like settings and are none.
	Unused []string `yaml:"-"`

	source string // what it was read from, and its tree
	file   *yaml.Node
}

// Log is the log section.
type Log struct {
	// Level is debug, info, warn or error.
	Level string `yaml:"level"`
	// Format is text or json.
	Format string `yaml:"format"`
}

// Store is the store section.
type Store struct {
	// Backend is sqlite, qdrant, or mem for a store that ends with the process.
	Backend string        `yaml:"backend"`
	SQLite  sqlite.Config `yaml:"sqlite"`
	Qdrant  qdrant.Config `yaml:"qdrant"`
}

// The backends of the store section.
const (
	BackendSQLite = "sqlite"
	BackendQdrant = "qdrant"
	BackendMem    = "mem"
)

// Op is one entry of the op section.
type Op struct {
	// Backend names the op's constructor.
	Backend string `yaml:"backend"`
	// LLM names an entry of the llm section.
	LLM string `yaml:"llm"`
	// Params are the op's own settings.
	Params yaml.Node `yaml:"params"`
}

// specs are the entries of the op section as package ops takes them.
func (c *Config) specs() map[string]ops.Spec {
	specs := map[string]ops.Spec{}
	for name, op := range c.Op {
		specs[name] = ops.Spec{Backend: op.Backend, LLM: op.LLM, Params: func(into any) error {
			return decodeStrict(&op.Params, into, "op."+name+".params")
		}}
	}
	return specs
}

// SetDataDir puts the embedded store into a folder, and dumps into one within it
// unless the configuration says where.
func (c *Config) SetDataDir(dir string) {
	c.Store.SQLite.Dir = dir
	builtIn, err := Default()
	if err != nil {
		return
	}
	_, usual := ops.Settings[ops.VectorStoreParams](builtIn.Plan)
	ops.Change(c.Plan, func(p *ops.VectorStoreParams) {
		if *p == usual {
			p.DumpDir = filepath.Join(dir, "dumps")
		}
	})
}

// StoreDir is the folder of the store that this machine has; "" is none.
func (c *Config) StoreDir() string {
	if c.Store.Backend == BackendSQLite {
		return c.Store.SQLite.Dir
	}
	return ""
}

// maxWait keeps the wait for verdicts within what HTTP clients bear.
const maxWait = 10 * time.Minute
