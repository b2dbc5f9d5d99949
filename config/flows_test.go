package config_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"memoryd/config"
	"memoryd/ops"
)

// refused says that the file is refused with a text that holds all parts.
func refused(t *testing.T, file string, parts ...string) {
	t.Helper()
	_, err := config.Parse([]byte(file), "f.yaml", nil)
	for _, part := range parts {
		if !strings.Contains(fmt.Sprint(err), part) {
			t.Errorf("%s\ngot  %v\nwant %s", file, err, part)
		}
	}
}

// Each of these files was called valid once, and then lost calls, panicked, or
// answered wrongly.

func TestAFlowThatRecordsWhatNobodyValidatedIsRefused(t *testing.T) {
	refused(t, "flow:\n  add_tool_call_result: [parse_tool_call_result_op]\n",
		"line 2: flow.add_tool_call_result: parse_tool_call_result_op cannot follow the request")
}

func TestAFlowThatCompactsWhatItShouldRecordIsRefused(t *testing.T) {
	refused(t, "flow:\n  add_tool_call_result:\n    - validate_tool_call_result_op\n    - compact_conversation_op\n",
		"line 4: flow.add_tool_call_result: compact_conversation_op cannot follow validate_tool_call_result_op")
}

func TestASummaryFlowWithoutASummaryIsRefused(t *testing.T) {
	refused(t, "log: {level: info}\nflow:\n  summary_tool_memory: [load_tool_memory_op, retrieve_tool_memory_op]\n",
		"line 3: flow.summary_tool_memory: retrieve_tool_memory_op cannot be the last op of this endpoint")
}

func TestAForecastFlowWithoutAForecastIsRefused(t *testing.T) {
	refused(t, "flow:\n  preflight_tool_call: [load_tool_memory_op, retrieve_tool_memory_op]\n",
		"line 2: flow.preflight_tool_call: load_tool_memory_op cannot follow the request")
}

func TestARecordingFlowThatLoadsNamesNobodyGaveIsRefused(t *testing.T) {
	refused(t, "flow:\n  add_tool_call_result: [validate_tool_call_result_op, parse_tool_call_result_op, load_tool_memory_op, summary_tool_memory_op]\n",
		"line 2: flow.add_tool_call_result: load_tool_memory_op cannot follow parse_tool_call_result_op")
}

func TestARecordingFlowThatSummarisesIsRefused(t *testing.T) {
	refused(t, "flow:\n  add_tool_call_result: [validate_tool_call_result_op, parse_tool_call_result_op, summary_tool_memory_op]\n",
		"line 2: flow.add_tool_call_result: summary_tool_memory_op cannot follow parse_tool_call_result_op")
}

func TestAFlowOfAnUnknownNameIsRefused(t *testing.T) {
	refused(t, "flow:\n  add_tool_call_results: [validate_tool_call_result_op, parse_tool_call_result_op]\n",
		"line 2: flow.add_tool_call_results: there is no such endpoint; known endpoints: add_tool_call_result, compact_conversation,")
}

func TestASecondEntryOfAnOpIsRefused(t *testing.T) {
	const entry = "op:\n  short_summary:\n    backend: summary_tool_memory_op\n    llm: default\n    params: {recent_call_count: 5, summary_sleep_interval: 0}\n"
	refused(t, entry, "line 2: op.short_summary: no flow uses this entry")
	refused(t, entry+"flow:\n  retrieve_tool_memory: [load_tool_memory_op, short_summary, retrieve_tool_memory_op]\n",
		"line 2: flow.summary_tool_memory: the op summary_tool_memory_op is already used by the entry short_summary")
}

func TestAnUnknownBackendIsRefused(t *testing.T) {
	refused(t, "op:\n  summary_tool_memory_op:\n    backend: no_such_op\n",
		`line 3: op.summary_tool_memory_op.backend: there is no op "no_such_op"; known ops: compact_conversation_op,`)
}

func TestAFlowWithoutAnOpIsRefused(t *testing.T) {
	refused(t, "flow:\n  retrieve_tool_memory: []\n", "line 2: flow.retrieve_tool_memory: it lists no op")
}

// The fault is in the op section, and so is the line, where the flow is built in.
func TestAnEntryThatNoLongerFitsItsFlowIsNamed(t *testing.T) {
	refused(t, "op:\n  parse_tool_call_result_op:\n    backend: load_tool_memory_op\n    llm: ''\n    params: null\n", "line 3: ")
}

func TestAnOpThatAsksNoModelTakesNone(t *testing.T) {
	refused(t, "op:\n  load_tool_memory_op:\n    llm: default\n", "line 3: op.load_tool_memory_op.llm: load_tool_memory_op uses no model")
}

// An entry of another name replaces the built-in one.
func TestAnEntryOfAnotherNameServesTheFlow(t *testing.T) {
	c, err := config.Parse([]byte(`
op:
  brief: {backend: summary_tool_memory_op, params: {recent_call_count: 5}}
flow:
  summary_tool_memory: [load_tool_memory_op, brief]
`), "f.yaml", nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, p := ops.Settings[ops.SummaryParams](c.Plan); p.RecentCallCount != 5 {
		t.Errorf("the window is %d, want 5", p.RecentCallCount)
	}
}

func TestWhatAPartCannotWorkWithIsNamedWithItsLine(t *testing.T) {
	c, err := config.Parse([]byte("log: {level: info}\nevaluate:\n  prompt_file: nowhere\n"), "f.yaml", nil)
	if err != nil {
		t.Fatal(err)
	}
	err = c.Fault("evaluate", errors.New("prompt_file: no such file"))
	if want := "f.yaml: line 3: evaluate.prompt_file: no such file"; err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
}
