package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// recordedStep is a line of what a ReMe server answered.
type recordedStep struct {
	Name, Path, Body string
	Status           int
	Answer           json.RawMessage
}

// differs are the steps whose answers are others on purpose, and why.
var differs = map[string]string{
	"one of two without a name": "ReMe fails within and records nothing; here the other item is recorded, and the fault named",
	"no workspace":              "ReMe calls it by no name, here it is default",
	"summary of a number":       "here a list of names is understood too, and the message says so",
	"all items without a name":  "ReMe fails within and says success",
	"an unknown action":         "ReMe fails within and says success",
	"list":                      "ReMe leaves the list out",
	"delete":                    "ReMe gives null, here action_result says how many",
}

// The values that differ from server to server: ids, times, and what judge and
// writer say in their own words. ReMe's score of a memory is how near a search found
// it; it makes a token cost up where none is given.
var ownWords = regexp.MustCompile(`\.(memory_id|deleted_memory_ids\[\d+\]|time_created|time_modified|author|content|summary|evaluation|memory_list\[\d+\]\.score|token_cost|ctx\.error|metadata\.action_result)$`)

// TestAnswersAreThoseOfReMe sends what was sent to a ReMe server, and holds each
// answer to what came back: every member is there, with the same value or, where
// values are a server's own, the same type, floats with their point.
func TestAnswersAreThoseOfReMe(t *testing.T) {
	recorded, err := os.ReadFile("testdata/reme/golden.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	url, stop := serveOnTheSide(t)
	defer stop()
	for line := range bytes.Lines(recorded) {
		var step recordedStep
		if err := json.Unmarshal(line, &step); err != nil {
			t.Fatal(err)
		}
		status, body := posted(t, "http://"+url+step.Path, step.Body)
		if status != step.Status {
			t.Errorf("%s: status %d, ReMe answers %d", step.Name, status, step.Status)
		}
		if differs[step.Name] != "" {
			continue
		}
		for _, fault := range unlike(decoded(t, step.Answer), decoded(t, body), "") {
			t.Errorf("%s: %s", step.Name, fault)
		}
	}
}

func decoded(t *testing.T, text []byte) any {
	t.Helper()
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return withoutGuidelines(v)
}

// withoutGuidelines puts a mark in the place of each guideline in the answer.
func withoutGuidelines(v any) any {
	top, _ := v.(map[string]any)
	answer, _ := top["answer"].(string)
	metadata, _ := top["metadata"].(map[string]any)
	list, _ := metadata["memory_list"].([]any)
	for _, m := range list {
		if content, _ := m.(map[string]any)["content"].(string); content != "" {
			top["answer"] = strings.ReplaceAll(answer, content, "GUIDELINE")
			answer, _ = top["answer"].(string)
		}
	}
	if strings.HasSuffix(answer, " tool memory(ies)") { // which ReMe leaves empty
		top["answer"] = ""
	}
	return v
}

// unlike says where ours is not what theirs is.
func unlike(theirs, ours any, at string) (faults []string) {
	switch theirs := theirs.(type) {
	case map[string]any:
		got, ok := ours.(map[string]any)
		if !ok {
			return []string{fmt.Sprintf("%s: got %v, want an object", at, ours)}
		}
		for name, want := range theirs {
			if v, there := got[name]; there {
				faults = append(faults, unlike(want, v, at+"."+name)...)
			} else {
				faults = append(faults, fmt.Sprintf("%s.%s is not there", at, name))
			}
		}
	case []any:
		got, ok := ours.([]any)
		if !ok || len(got) != len(theirs) {
			return []string{fmt.Sprintf("%s: got %v, want %v", at, ours, theirs)}
		}
		for i := range theirs {
			faults = append(faults, unlike(theirs[i], got[i], fmt.Sprintf("%s[%d]", at, i))...)
		}
	default:
		want, got := fmt.Sprintf("%T %v", theirs, theirs), fmt.Sprintf("%T %v", ours, ours)
		if ownWords.MatchString(at) { // the same type; a number with its point
			want, got = kindOf(theirs), kindOf(ours)
		}
		if want != got {
			faults = append(faults, fmt.Sprintf("%s: got %s, want %s", at, got, want))
		}
	}
	slices.Sort(faults)
	return faults
}

func kindOf(v any) string {
	if n, ok := v.(json.Number); ok {
		return fmt.Sprintf("number, with a point: %t", strings.Contains(n.String(), "."))
	}
	return fmt.Sprintf("%T", v)
}

func posted(t *testing.T, url, body string) (status int, answer []byte) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	answer, err = io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, answer
}
