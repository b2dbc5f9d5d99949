package config

import (
	"crypto/sha256"
	"encoding/hex"

	"go.yaml.in/yaml/v3"
)

// Digests gives a digest of each section of the settings that are in force: equal ones
// for equal settings, without telling any.
func (c *Config) Digests() (map[string]string, error) {
	text, err := yaml.Marshal(c)
	if err != nil {
		return nil, err
	}
	sections := map[string]any{}
	if err := yaml.Unmarshal(text, &sections); err != nil {
		return nil, err
	}
	digests := map[string]string{}
	for name, section := range sections {
		b, err := yaml.Marshal(section)
		if err != nil {
			return nil, err
		}
		sum := sha256.Sum256(b)
		digests[name] = hex.EncodeToString(sum[:])
	}
	return digests, nil
}
