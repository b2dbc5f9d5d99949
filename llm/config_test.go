package llm_test

import (
	"strings"
	"testing"
	"time"

	"memoryd/internal/configtest"

	"memoryd"
	"memoryd/llm"

	"go.yaml.in/yaml/v3"
)

func TestDefaultIsValid(t *testing.T) {
	if err := configtest.Section[llm.Config]("llm.default").Validate(); err != nil {
		t.Error(err)
	}
}

func TestValidateNamesTheKey(t *testing.T) {
	tests := map[string]func(*llm.Config){
		"backend":         func(c *llm.Config) { c.Backend = "other" },
		"model_name":      func(c *llm.Config) { c.ModelName = "" },
		"base_url":        func(c *llm.Config) { c.BaseURL = "ftp://x" },
		"fallback_models": func(c *llm.Config) { c.FallbackModels = []string{""} },
	}
	for key, change := range tests {
		c := configtest.Section[llm.Config]("llm.default")
		change(&c)
		err := c.Validate()
		if err == nil || !strings.HasPrefix(err.Error(), key+":") {
			t.Errorf("%s: got %v", key, err)
		}
		if _, err := llm.New(c, "", llm.Options{}); !memoryd.IsKind(err, memoryd.Invalid) {
			t.Errorf("%s: New gave %v", key, err)
		}
	}
}

func TestBaseURL(t *testing.T) {
	for url, ok := range map[string]bool{
		"": true, "http://127.0.0.1:9100/v1": true, "https://api.example.com/v1/": true,
		"127.0.0.1:9100": false, "http://": false, "http://user:pw@host/v1": false, "http://host/v1?x=1": false, "://": false,
	} {
		c := configtest.Section[llm.Config]("llm.default")
		c.BaseURL = url
		if err := c.Validate(); (err == nil) != ok {
			t.Errorf("%q: %v", url, err)
		} else if err != nil && strings.Contains(err.Error(), "pw") {
			t.Errorf("a password is in %v", err)
		}
	}
}

func TestConfigReadsFromYAML(t *testing.T) {
	c := configtest.Section[llm.Config]("llm.default")
	text := "model_name: m\nbase_url: http://h/v1\napi_key_env: K\nattempt_timeout: 5s\nrequests_per_minute: 60\nfallback_models: [a, b]\nburst: 1m\n"
	if err := yaml.Unmarshal([]byte(text), &c); err != nil {
		t.Fatal(err)
	}
	if c.ModelName != "m" || c.BaseURL != "http://h/v1" || c.APIKeyEnv != "K" || c.AttemptTimeout != 5*time.Second ||
		c.RequestsPerMinute != 60 || len(c.FallbackModels) != 2 || c.Burst != time.Minute || c.Retries != configtest.Section[llm.Config]("llm.default").Retries {
		t.Errorf("got %+v", c)
	}
}

func TestAKeyThatCannotBeAHeaderIsRefused(t *testing.T) {
	for _, key := range []string{"sk-1 2", "sk-1\n2", "ключ"} {
		_, err := llm.New(configtest.Section[llm.Config]("llm.default"), key, llm.Options{})
		if !memoryd.IsKind(err, memoryd.Invalid) || strings.Contains(err.Error(), key) {
			t.Errorf("got %v", err)
		}
	}
}
