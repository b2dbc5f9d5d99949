// Package config reads the configuration: the built-in default.yaml, overridden by a file,
// overridden by the environment. It is strict: unknown keys and invalid values are errors with line
// numbers. Each section's type belongs to the package that it configures.
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
	// UI enables the dashboard at /ui/.
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

	// Plan is built from Op and Flow.
	Plan *ops.Plan `yaml:"-"`
	// Incomplete allows serving a store whose restore, load or copy was interrupted.
	Incomplete bool `yaml:"-"`
	// Unused lists environment variables that start with MEMORYD_ but are not settings.
	Unused []string `yaml:"-"`

	source string // what it was read from, and its tree
	file   *yaml.Node
}

// Log is the log section.
type Log struct {
	Level  string `yaml:"level" must:"debug, info, warn or error"`
	Format string `yaml:"format" must:"text or json"`
}

// Store is the store section.
type Store struct {
	// Backend is sqlite, qdrant, or mem for a store in memory.
	Backend string        `yaml:"backend" must:"sqlite, qdrant or mem"`
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
	// Backend is the name of the op's constructor.
	Backend string `yaml:"backend"`
	// LLM is the name of an entry of the llm section.
	LLM string `yaml:"llm"`
	// Params are the settings of the op.
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

// SetDataDir sets the folder of the embedded store, and that of dumps unless the configuration
// names one.
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

// StoreDir returns the folder of a store on this machine; "" if the store is elsewhere.
func (c *Config) StoreDir() string {
	if c.Store.Backend == BackendSQLite {
		return c.Store.SQLite.Dir
	}
	return ""
}

// maxWait keeps the wait for verdicts within what HTTP clients bear.
const maxWait = 10 * time.Minute
