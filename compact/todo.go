package compact

import (
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"

	"memoryd/compact/chat"
	"memoryd/internal/textsafe"
)

// todoLimit bounds the line with the task list, in characters.
const todoLimit = 900

// todo finds the newest task list among the units: arguments or an output that
// hold a list of objects with a state and a text. It gives one line with ids and
// states, "" when there is none.
func (t *tiers) todo(units []int) (unit int, text string) {
	for _, unit := range slices.Backward(units) {
		if !t.c.units[unit].Calls {
			continue
		}
		for _, i := range t.c.units[unit].Index {
			if text := todoOf(&t.c.messages[i]); text != "" {
				return unit, t.say("tasks: " + textsafe.Cut(text, todoLimit))
			}
		}
	}
	return 0, ""
}

func todoOf(m *chat.Message) string {
	for _, c := range m.Calls {
		if s := tasksIn(c.Args); s != "" {
			return s
		}
	}
	for _, r := range m.Results {
		if s := tasksIn(r.Text); s != "" {
			return s
		}
	}
	return ""
}

// tasksIn reads a JSON list of tasks, or an object that holds one.
func tasksIn(text string) string {
	if !strings.Contains(text, `"status"`) && !strings.Contains(text, `"state"`) {
		return ""
	}
	var v any
	if json.Unmarshal([]byte(text), &v) != nil {
		return ""
	}
	if m, ok := v.(map[string]any); ok {
		for _, name := range []string{"todos", "tasks", "items", "plan", "steps"} {
			if list, ok := m[name].([]any); ok {
				return taskLine(list)
			}
		}
		return ""
	}
	list, _ := v.([]any)
	return taskLine(list)
}

func taskLine(list []any) string {
	var parts []string
	for _, item := range list {
		m, ok := item.(map[string]any)
		if !ok {
			return ""
		}
		state := firstOf(m, "status", "state")
		what := firstOf(m, "content", "title", "task", "description", "text", "name", "step")
		if state == "" || what == "" {
			return ""
		}
		if id := firstOf(m, "id", "task_id", "key"); id != "" {
			what = id + " " + what
		}
		parts = append(parts, fmt.Sprintf("%s [%s]", oneLine(what), oneLine(state)))
	}
	return strings.Join(parts, "; ")
}

func firstOf(m map[string]any, names ...string) string {
	for _, n := range names {
		switch v := m[n].(type) {
		case string:
			if v != "" {
				return v
			}
		case float64:
			return fmt.Sprint(v)
		}
	}
	return ""
}
