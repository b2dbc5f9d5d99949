package config_test

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"memoryd"
	"memoryd/config"
	"memoryd/internal/configtest"
	"memoryd/ops"

	"go.yaml.in/yaml/v3"
)

func TestTheBuiltInConfigurationIsValid(t *testing.T) {
	c, err := config.Default()
	if err != nil {
		t.Fatal(err)
	}
	if c.HTTP.Listen != "127.0.0.1:8002" || c.Store.Backend != "sqlite" || c.Evaluate.Judge != "auto" || c.Evaluate.Wait != 30*time.Second {
		t.Errorf("got %+v", c)
	}
	if _, p := ops.Settings[ops.ParseParams](c.Plan); p.MaxHistory != 100 || p.EvaluationSleepInterval != 0 {
		t.Errorf("params %+v", p)
	}
}

// Whoever the store's queue has no room for was let in, waited and was worked on: under ten times
// the load, 1 in 50 to 200 refusals came so, after two seconds.
func TestTheQueueOfTheStoreHoldsWhatTheServerLetsIn(t *testing.T) {
	cfg, err := config.Default()
	if err != nil {
		t.Fatal(err)
	}
	if got, want := cfg.Store.SQLite.QueueBytes, cfg.HTTP.MaxInFlightBytes; got < want {
		t.Errorf("the queue holds %d bytes of %d", got, want)
	}
}

// Every setting of the types has to stand in default.yaml, with its comment,
// since that file is where people look.
func TestDefaultYAMLHoldsEverySetting(t *testing.T) {
	for _, key := range configtest.Keys(reflect.TypeFor[config.Config]()) {
		last := key[strings.LastIndexByte(key, '.')+1:]
		if !strings.Contains(string(memoryd.DefaultConfig), last+":") {
			t.Errorf("default.yaml does not hold %s", key)
		}
	}
}

func TestAFileNeedOnlyHoldWhatDiffers(t *testing.T) {
	c, err := config.Parse([]byte(`
op:
  parse_tool_call_result_op: {params: {max_history_tool_call_cnt: 7}}
evaluate: {wait: 5s}
llm:
  cheap: {model_name: tiny}
`), "f.yaml", nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, p := ops.Settings[ops.ParseParams](c.Plan); p.MaxHistory != 7 || p.EvaluationSleepInterval != 0 {
		t.Errorf("params %+v", p)
	}
	if c.Evaluate.Wait != 5*time.Second || c.Evaluate.Judge != "auto" {
		t.Errorf("evaluate %+v", c.Evaluate)
	}
	if c.LLM["cheap"].ModelName != "tiny" || c.LLM["cheap"].MaxConcurrency != c.LLM["default"].MaxConcurrency {
		t.Errorf("llm.cheap does not start from the defaults: %+v", c.LLM["cheap"])
	}
}

func TestEachFaultIsNamedWithItsLine(t *testing.T) {
	tests := map[string]struct{ text, want string }{
		"a list for a section":    {"store: [1]\n", "f.yaml: line 1: store: must be a mapping of settings, got a list"},
		"a tab":                   {"store:\n\tbackend: mem\n", "f.yaml: line 2: no value can begin with this character; indent with spaces, not tabs"},
		"unknown section":         {"http: {}\nhttps: {}\n", "f.yaml: line 2: https: unknown key"},
		"unknown key":             {"http:\n  listne: x\n", "f.yaml: line 2: http.listne: unknown key; did you mean listen?"},
		"key of another case":     {"HTTP: {}\n", "line 1: HTTP: unknown key; did you mean http?"},
		"key given twice":         {"log:\n  level: info\n  level: warn\n", "line 3"},
		"wrong type":              {"http:\n  max_items: many\n", "line 2:"},
		"value out of range":      {"http:\n  max_items: 0\n", "line 2: http.max_items: must be more than 0"},
		"bad address":             {"http:\n\n  listen: here\n", "line 3: http.listen: must be host:port"},
		"bad duration":            {"evaluate: {wait: soon}\n", "line 1:"},
		"wait too long":           {"evaluate:\n  wait: 20m\n", "line 2: evaluate.wait: must be at most"},
		"unknown judge":           {"evaluate:\n  judge: dice\n", "line 2: evaluate.judge"},
		"unknown backend":         {"store:\n  backend: paper\n", "line 2: store.backend: must be sqlite, qdrant or mem"},
		"unknown log level":       {"log:\n  level: loud\n", "line 2: log.level"},
		"unknown param":           {"op:\n  parse_tool_call_result_op:\n    params: {max_history: 5}\n", "max_history: unknown key"},
		"param out of range":      {"op:\n  parse_tool_call_result_op:\n    params:\n      max_history_tool_call_cnt: 0\n", "line 4: op.parse_tool_call_result_op.params.max_history_tool_call_cnt: must be 1 to"},
		"unknown op in a flow":    {"flow:\n  retrieve_tool_memory: [nothing]\n", `line 2: flow.retrieve_tool_memory: there is no op "nothing"`},
		"unknown model":           {"op:\n  summary_tool_memory_op:\n    llm: huge\n", `line 3: op.summary_tool_memory_op.llm: the llm section has no "huge"`},
		"negative price":          {"llm:\n  default:\n    price_prompt: -1\n", "line 3: llm.default.price_prompt: must be 0 to 1000000000, got -1"},
		"price that is no number": {"llm:\n  default:\n    price_completion: .nan\n", "line 3: llm.default.price_completion: must be 0 to 1000000000, got NaN"},
		"two prices of a model":   {"llm:\n  default: {model_name: m, price_prompt: 1}\n  other: {model_name: m, price_prompt: 2}\n", `llm.other.price_prompt: the entry "default" has other prices`},
		"not a mapping":           {"- a\n", "line 1: the configuration must be a mapping"},
		"not YAML":                {"a: [\n", "line"},
		"secret in the file":      {"llm: {default: {api_key: x}}\n", "llm.default.api_key: unknown key"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := config.Parse([]byte(tc.text), "f.yaml", nil)
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got  %v\nwant %s", err, tc.want)
			}
		})
	}
}

func TestASectionOfAnotherTypeIsReportedOnce(t *testing.T) {
	_, err := config.Parse([]byte("store: [1]\n"), "f.yaml", nil)
	if err == nil || strings.Count(err.Error(), "\n") != 0 || strings.Contains(err.Error(), "config.Store") {
		t.Errorf("got %v", err)
	}
}

func TestEachSettingIsHeldToWhatItsTagSays(t *testing.T) {
	params := func(op, setting string) string { return "op: {" + op + ": {params: {" + setting + "}}}" }
	for text, want := range map[string]string{
		"log: {format: xml}":                                                     `log.format: must be text or json, got "xml"`,
		"http: {pprof_listen: localhost}":                                        `http.pprof_listen: must be host:port, got "localhost"`,
		"http: {health_listen: '8003'}":                                          `http.health_listen: must be host:port, got "8003"`,
		"http: {keys: maybe}":                                                    `http.keys: must be auto, on or off, got "maybe"`,
		"http: {local_users: some}":                                              `http.local_users: must be own or any, got "some"`,
		"http: {key_rate: -1}":                                                   "http.key_rate: must be 0 or more, got -1",
		"http: {max_body_bytes: 0}":                                              "http.max_body_bytes: must be more than 0, got 0",
		"http: {shutdown_timeout: 0s}":                                           "http.shutdown_timeout: must be more than 0, got 0s",
		"guidelines: {max_words: 10}":                                            "guidelines.max_words: must be at least 80, got 10",
		"guidelines: {quote: always}":                                            `guidelines.quote: must be quorum or never, got "always"`,
		"usage: {requests_per_hour: -1}":                                         "usage.requests_per_hour: must be 0 (no limit) or more, got -1",
		"usage: {requests_per_day: -1}":                                          "usage.requests_per_day: must be 0 (no limit) or more, got -1",
		"usage: {tokens_per_hour: -1}":                                           "usage.tokens_per_hour: must be 0 (no limit) or more, got -1",
		"usage: {tokens_per_day: -1}":                                            "usage.tokens_per_day: must be 0 (no limit) or more, got -1",
		params("preflight_tool_call_op", "false_alarms: 1"):                      "false_alarms: must be at least 0 and below 1, got 1",
		params("preflight_tool_call_op", "false_alarms: .nan"):                   "false_alarms: must be at least 0 and below 1, got NaN",
		"llm: {default: {temperature: 3}}":                                       "llm.default.temperature: must be 0 to 2, got 3",
		"llm: {default: {temperature: .nan}}":                                    "llm.default.temperature: must be 0 to 2, got NaN",
		"llm: {default: {max_tokens: -1}}":                                       "llm.default.max_tokens: must be 0 to 2147483647, got -1",
		"llm: {default: {attempt_timeout: 0s}}":                                  "llm.default.attempt_timeout: must be at least 1ms, got 0s",
		"llm: {default: {retries: -1}}":                                          "llm.default.retries: must be 0 to 2147483647, got -1",
		"llm: {mine: {max_concurrency: 0}}":                                      "llm.mine.max_concurrency: must be 1 to 2147483647, got 0",
		"llm: {default: {requests_per_minute: -1}}":                              "llm.default.requests_per_minute: must be 0 to 2147483647, got -1",
		"llm: {default: {tokens_per_minute: -1}}":                                "llm.default.tokens_per_minute: must be 0 to 2147483647, got -1",
		"llm: {default: {burst: -1s}}":                                           "llm.default.burst: must be 0 or more, got -1s",
		"llm: {default: {probe_interval: 999ms}}":                                "llm.default.probe_interval: must be at least 1s, got 999ms",
		"llm: {default: {price_prompt: 2e9}}":                                    "llm.default.price_prompt: must be 0 to 1000000000, got 2e+09",
		"llm: {default: {price_completion: -1}}":                                 "llm.default.price_completion: must be 0 to 1000000000, got -1",
		"trace: {sample: 1.5}":                                                   "trace.sample: must be 0 to 1, got 1.5",
		"compact: {keep_originals: -1s}":                                         "compact.keep_originals: must be 0 or more, got -1s",
		"compact: {model: {on_failure: x}}":                                      `compact.model.on_failure: must be extract or keep, got "x"`,
		"evaluate: {judge: oracle}":                                              `evaluate.judge: must be one of auto, rules, llm, cascade, got "oracle"`,
		"evaluate: {on_model_failure: failed}":                                   `evaluate.on_model_failure: must be one of pending, rules, got "failed"`,
		"evaluate: {on_unjudgeable: pending}":                                    `evaluate.on_unjudgeable: must be one of failed, rules, got "pending"`,
		"evaluate: {wait: -1s}":                                                  "evaluate.wait: must be 0 or more, got -1s",
		"evaluate: {lease: 48h}":                                                 "evaluate.lease: must be 1s to 24h, got 48h0m0s",
		"evaluate: {lease: 999ms}":                                               "evaluate.lease: must be 1s to 24h, got 999ms",
		"evaluate: {kind_sampling: 1.1}":                                         "evaluate.kind_sampling: must be 0 to 1, got 1.1",
		"revisions: {first_after: 0}":                                            "revisions.first_after: must be at least 1, got 0",
		"revisions: {versions: 1}":                                               "revisions.versions: must be at least 2, got 1",
		"revisions: {untold_share: 1}":                                           "revisions.untold_share: must be 0 or more and below 1, got 1",
		"quotas: {tools: -1}":                                                    "quotas.tools: must be 0 (no limit) or more, got -1",
		params("receive_hook_op", "at_call: shout"):                              `at_call: must be tell, ask, deny or repair, got "shout"`,
		params("validate_tool_call_result_op", "max_text_bytes: 1023"):           "max_text_bytes: must be at least 1024, got 1023",
		params("parse_tool_call_result_op", "max_history_tool_call_cnt: 100001"): "max_history_tool_call_cnt: must be 1 to 100000, got 100001",
		params("parse_tool_call_result_op", "evaluation_sleep_interval: -0.5"):   "evaluation_sleep_interval: must be 0 or more (seconds), got -0.5",
		params("summary_tool_memory_op", "recent_call_count: 0"):                 "recent_call_count: must be at least 1, got 0",
		"http: {max_items: null}":                                                "",
		params("parse_tool_call_result_op", "max_history_tool_call_cnt: 100000"): "",
	} {
		_, err := config.Parse([]byte(text), "f.yaml", nil)
		if want == "" && err != nil || want != "" && (err == nil || !strings.HasSuffix(err.Error(), want)) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func TestAnEmptyVariableIsHeldToWhatItsTagSays(t *testing.T) {
	for _, variable := range []string{"MEMORYD_HTTP_MAX_ITEMS", "MEMORYD_EVALUATE_LEASE", "MEMORYD_OP_SUMMARY_TOOL_MEMORY_OP_PARAMS_RECENT_CALL_COUNT"} {
		if _, err := config.Parse(nil, "f.yaml", []string{variable + "="}); err == nil || !strings.HasPrefix(err.Error(), "environment: "+variable+": ") {
			t.Errorf("%s: %v", variable, err)
		}
	}
}

func TestAValueOfAnotherTypeIsToldOnce(t *testing.T) {
	for text, want := range map[string]string{
		"compact:\n  deerflow:\n    trigger: [{type: tokens, value: 4000, x: 3}]\n": "f.yaml: line 3: compact.deerflow.trigger: deerflow.trigger: a clause is",
		"http:\n  allowed_hosts: [[1]]\n":                                           "f.yaml: line 2: http.allowed_hosts: must be a text, got a list",
		"ui: true\n":                                                                "environment: MEMORYD_LLM_DEFAULT_RETRIES: llm.default.retries: must be a whole number, got 1.5",
	} {
		environ := []string{"MEMORYD_LLM_DEFAULT_RETRIES=1.5"}
		if !strings.HasPrefix(want, "environment") {
			environ = nil
		}
		if _, err := config.Parse([]byte(text), "f.yaml", environ); err == nil || !strings.HasPrefix(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// U10: a fault of one kind hid those of the others, and some went unseen.
func TestFaultsOfAllKindsAreReportedTogether(t *testing.T) {
	_, err := config.Parse([]byte(`http:
  listne: x
  max_items: 0
  max_in_flight: 0
evaluate: {wait: -5s, judge: dice}
log:
  level: [loud]
guidelines: {max_words: many}
store:
  qdrant: {timeout: 30}
llm: {default: {retries: 1.5}}
flow: {retrieve_tool_memory: [nothing]}
`), "f.yaml", []string{"MEMORYD_HTTP_BACKGROUND_IDLE=soon", "MEMORYD_HTTP_SHUTDOWN_TIMEOUT=-1m", "MEMORYD_SPEND_REQUESTS_PER_DAY=1"})
	want := strings.Split(`environment: MEMORYD_SPEND_REQUESTS_PER_DAY: is gone: it is called usage now
environment: MEMORYD_HTTP_SHUTDOWN_TIMEOUT: http.shutdown_timeout: must be more than 0
environment: MEMORYD_HTTP_BACKGROUND_IDLE: http.background_idle: must be a duration such as 250ms, 30s or 5m, got soon
f.yaml: line 2: http.listne: unknown key; did you mean listen?
f.yaml: line 3: http.max_items: must be more than 0
f.yaml: line 4: http.max_in_flight: must be more than 0
f.yaml: line 5: evaluate.judge: must be one of
f.yaml: line 5: evaluate.wait: must be 0 or more
f.yaml: line 7: log.level: must be a text, got a list
f.yaml: line 8: guidelines.max_words: must be a whole number, got many
f.yaml: line 10: store.qdrant.timeout: must be a duration with its unit, such as 30s, got 30
f.yaml: line 11: llm.default.retries: must be a whole number, got 1.5
f.yaml: line 12: flow.retrieve_tool_memory: there is no op "nothing"`, "\n")
	got := strings.Split(err.Error(), "\n")
	for _, line := range want {
		if !slices.ContainsFunc(got, func(g string) bool { return strings.HasPrefix(g, line) }) {
			t.Errorf("missing: %s", line)
		}
	}
	if len(got) != len(want) {
		t.Errorf("%d faults, want %d:\n%v", len(got), len(want), err)
	}
}

func TestASectionOfAnotherNameIsTold(t *testing.T) {
	for old, now := range map[string]string{"curate": "revisions", "spend": "usage"} {
		refused(t, "log: {level: info}\n"+old+": {}\n", "line 2: "+old+": is gone: it is called "+now+" now")
	}
	refused(t, "store:\n  spool: {dir: x}\n", "line 2: store.spool: is gone: while Qdrant is away an add gets 503")
}

func TestARemovedSettingSaysWhatBecameOfIt(t *testing.T) {
	page, err := os.ReadFile("removed.txt")
	if err != nil {
		t.Fatal(err)
	}
	var keys []string
	for line := range strings.Lines(string(page)) {
		of, _, _ := strings.Cut(line, ": ")
		keys = append(keys, strings.Fields(of)...)
	}
	for _, key := range keys {
		parts := strings.Split(strings.ReplaceAll(key, "*", "default"), ".")
		text := "1"
		for _, part := range slices.Backward(parts) {
			text = "{" + part + ": " + text + "}"
		}
		variable := "MEMORYD_" + strings.ToUpper(strings.Join(parts, "_"))
		for _, from := range []func() error{
			func() error { _, err := config.Parse([]byte(text), "f.yaml", nil); return err },
			func() error { _, err := config.Parse(nil, "environment", []string{variable + "=1"}); return err },
		} {
			if err := from(); err == nil || !strings.Contains(err.Error(), ": is gone: ") {
				t.Errorf("%s: got %v", key, err)
			}
		}
		if slices.Contains(configtest.Keys(reflect.TypeFor[config.Config]()), key) {
			t.Errorf("%s is a setting", key)
		}
	}
	if len(keys) < 80 {
		t.Errorf("only %d keys are known to have been removed", len(keys))
	}
}

// What nobody has a reason to change is a constant.
func TestThereAreAtMost120Settings(t *testing.T) {
	var tree yaml.Node
	if err := yaml.Unmarshal(memoryd.DefaultConfig, &tree); err != nil {
		t.Fatal(err)
	}
	if n := leaves(tree.Content[0]); n < 50 || n > 120 {
		t.Errorf("default.yaml holds %d settings", n)
	}
}

func leaves(n *yaml.Node) (sum int) {
	if n.Kind != yaml.MappingNode {
		return 1
	}
	for i := 1; i < len(n.Content); i += 2 {
		sum += leaves(n.Content[i])
	}
	return sum
}

func TestVariablesThatAreNoSettingsAreTold(t *testing.T) {
	c, err := config.Parse(nil, "environment", []string{"MEMORYD_HTTP_LISTN=x", "MEMORYD_HTTP_LISTEN=127.0.0.1:1", "MEMORYD_CONFIG=f", "MEMORYD_TEST_DATA=d", "PATH=p"})
	if err != nil || !slices.Equal(c.Unused, []string{"MEMORYD_HTTP_LISTN"}) {
		t.Errorf("got %v, %v", c.Unused, err)
	}
}

func TestEveryFaultIsReportedAtOnce(t *testing.T) {
	_, err := config.Parse([]byte("http:\n  a: 1\nlog:\n  b: 2\n"), "f.yaml", nil)
	faults, ok := errors.AsType[*config.Error](err)
	if !ok || len(faults.Problems) != 2 {
		t.Errorf("got %v", err)
	}
}

func TestTheEnvironmentBeatsTheFile(t *testing.T) {
	c, err := config.Parse([]byte("http: {listen: '127.0.0.1:1'}\nstore: {sqlite: {dir: a}}\n"), "f.yaml", []string{
		"MEMORYD_HTTP_LISTEN=127.0.0.1:2", "OPENAI_BASE_URL=http://127.0.0.1:9/v1",
		"MEMORYD_OP_PARSE_TOOL_CALL_RESULT_OP_PARAMS_EVALUATION_SLEEP_INTERVAL=0.5",
	})
	if err != nil {
		t.Fatal(err)
	}
	if c.HTTP.Listen != "127.0.0.1:2" || c.Store.SQLite.Dir != "a" || c.LLM["default"].BaseURL != "http://127.0.0.1:9/v1" {
		t.Errorf("listen %s, dir %s, base_url %s", c.HTTP.Listen, c.Store.SQLite.Dir, c.LLM["default"].BaseURL)
	}
	if _, p := ops.Settings[ops.ParseParams](c.Plan); p.EvaluationSleepInterval != 0.5 {
		t.Errorf("params %+v", p)
	}
	if _, err := config.Parse(nil, "environment", []string{"MEMORYD_HTTP_MAX_ITEMS=x"}); err == nil {
		t.Error("a wrong value in the environment was accepted")
	}
}

func TestLoadNamesAFileThatIsNotThere(t *testing.T) {
	if _, err := config.Load(filepath.Join(t.TempDir(), "no.yaml"), nil); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got %v", err)
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte("http: {listen: '127.0.0.1:1'}\n"))
	f.Add(memoryd.DefaultConfig)
	f.Add([]byte("a: &a [*a]\n"))
	f.Add([]byte("op: {x: {params: {a: {b: 1}}}}\nflow: {y: [x, x]}\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		if c, err := config.Parse(text, "f", nil); err == nil && c == nil {
			t.Fatal("neither a configuration nor an error")
		}
	})
}
