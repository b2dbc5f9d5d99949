package search

import (
	"fmt"
	"time"
)

// Config is the search section of the configuration.
type Config struct {
	// EmbeddingModel is the model that makes vectors; "" turns them off.
	EmbeddingModel string `yaml:"embedding_model"`
	// LLM names the entry of the llm section whose address, key and limits are used.
	LLM string `yaml:"llm"`
	// Dimensions is how many numbers a vector shall have; 0 leaves it to the model.
	Dimensions int `yaml:"dimensions"`
	// Wait is how long a search may wait for its vectors.
	Wait time.Duration `yaml:"wait"`
	// Nearest is how many tools the vectors bring into a result, at most.
	Nearest int `yaml:"nearest"`
	// MinSimilarity is the least cosine of a tool that the vectors bring.
	MinSimilarity float64 `yaml:"min_similarity"`
	// MaxTextBytes bounds what the model is shown of a guideline or a query.
	MaxTextBytes int `yaml:"max_text_bytes"`
	// Batch is how many guidelines one request to the model carries.
	Batch int `yaml:"batch"`
	// Queue is how many tools may wait for their vector; more wait for a round.
	Queue int `yaml:"queue"`
	// CacheFor is how long the vectors of a workspace are used before they are read
	// again: how late a search may learn of what another server wrote.
	CacheFor time.Duration `yaml:"cache_for"`
	// CacheBytes bounds the vectors that are kept in memory, of all workspaces
	// together.
	CacheBytes int64 `yaml:"cache_bytes"`
}

// The largest values that make sense.
const (
	mostDimensions = 16384
	mostBatch      = 512
	mostNearest    = 1000
	mostModelBytes = 256
)

// Validate names the setting that is wrong.
func (c Config) Validate() error {
	for _, n := range []struct {
		key                string
		value, least, most int64
	}{
		{"dimensions", int64(c.Dimensions), 0, mostDimensions},
		{"nearest", int64(c.Nearest), 1, mostNearest},
		{"max_text_bytes", int64(c.MaxTextBytes), 64, 1 << 20},
		{"batch", int64(c.Batch), 1, mostBatch},
		{"queue", int64(c.Queue), 1, 10_000_000},
		{"cache_bytes", c.CacheBytes, 1 << 20, 1 << 40},
	} {
		if n.value < n.least || n.value > n.most {
			return fmt.Errorf("%s: must be %d to %d, got %d", n.key, n.least, n.most, n.value)
		}
	}
	switch {
	case len(c.EmbeddingModel) > mostModelBytes:
		return fmt.Errorf("embedding_model: must be at most %d bytes long", mostModelBytes)
	case c.Wait < time.Millisecond || c.Wait > time.Minute:
		return fmt.Errorf("wait: must be 1ms to 1m, got %v", c.Wait)
	case c.CacheFor < 0:
		return fmt.Errorf("cache_for: must be 0 or more, got %v", c.CacheFor)
	case !(c.MinSimilarity >= -1 && c.MinSimilarity <= 1):
		return fmt.Errorf("min_similarity: must be -1 to 1, got %v", c.MinSimilarity)
	}
	return nil
}
