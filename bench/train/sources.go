package main

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"memoryd"
	"memoryd/evaluate/rules"
	"memoryd/evaluate/score"
)

// heldOut are the sets of outputs that nothing is learned from, so that they tell how
// good the judge is on outputs that it never saw. None shares a program or a library with what is learned from.
var heldOut = []string{
	"twentysixth.txt", "programs.txt", "commandsaside.txt", "documentsaside.txt", "servers.txt", "librariesaside.txt", "nodeaside.txt",
	"toolsaside.txt", "unseen.txt", "messagesaside.txt", "answersaside.txt", "toolservers.txt", "resultsaside.txt",
}

// How much the examples count. A success counts more than a failure, since tools fail
// less often than the labelled outputs do, and an empty result more, since there are few. What a
// model wrote, of which half are failures, counts less than what programs said.
const (
	successWeight = 1.9
	nothingWeight = 2.8
	writtenWeight = 0.5
)

// labelled is a call with its label: error, partial or ok.
type labelled struct {
	call     memoryd.Call
	label    string
	features []uint32
}

// source is where calls are from: a set of outputs, or a recording.
type source struct {
	name     string
	fold     string // that is left out with it
	recorded bool
	held     bool
	calls    []labelled
}

func (s *source) group() string {
	switch {
	case s.recorded:
		return "recordings"
	case s.held:
		return "held out"
	}
	return "labelled outputs"
}

// Where the sets are: those that people label, and those that nothing is learned from, as texts; what programs collected
// to learn from is packed, since nobody reads it often: `zcat` does.
func outputsOf(root string) string {
	return filepath.Join(root, "evaluate", "rules", "testdata", "outputs")
}
func packedOf(root string) string { return filepath.Join(root, "bench", "train", "learned") }

func read(root, recordings string) (sources []*source, err error) {
	files, err := filepath.Glob(filepath.Join(outputsOf(root), "*.txt"))
	packed, err2 := filepath.Glob(filepath.Join(packedOf(root), "*.txt.gz"))
	if err = errors.Join(err, err2); err != nil || len(files) == 0 || len(packed) == 0 {
		return nil, errors.Join(fmt.Errorf("labelled outputs are missing in %s", root), err)
	}
	for _, file := range slices.Concat(files, packed) {
		s, err := readOutputs(file)
		if err != nil {
			return nil, err
		}
		sources = append(sources, s)
	}
	if recordings == "" {
		return sources, nil
	}
	files, err = filepath.Glob(filepath.Join(recordings, "calls_*.jsonl.gz"))
	if err != nil || len(files) == 0 {
		return nil, errors.Join(fmt.Errorf("no recordings in %s", recordings), err)
	}
	for _, file := range files {
		s, err := readRecording(file)
		if err != nil {
			return nil, err
		}
		sources = append(sources, s)
	}
	return sources, nil
}

// readOutputs reads a file of lines "@@ tool | label | input", each with its output
// below.
func readOutputs(file string) (*source, error) {
	raw, err := os.ReadFile(file) //nolint:gosec // a file of the sources
	if err == nil && strings.HasSuffix(file, ".gz") {
		raw, err = unpack(raw)
	}
	if err != nil {
		return nil, err
	}
	s := &source{name: strings.TrimSuffix(filepath.Base(file), ".gz")}
	s.held = slices.Contains(heldOut, s.name)
	for part := range strings.SplitSeq("\n"+string(raw), "\n@@ ") {
		head, output, _ := strings.Cut(part, "\n")
		fields := strings.SplitN(head, " | ", 3)
		if len(fields) != 3 {
			continue
		}
		s.calls = append(s.calls, labelledCall(fields[0], fields[1], json.RawMessage(fields[2]), output))
	}
	return s, nil
}

func labelledCall(tool, label string, input any, output string) labelled {
	raw, err := json.Marshal(input)
	if err != nil {
		panic(err) // texts and numbers
	}
	return labelled{label: label, call: memoryd.Call{
		ToolRef: memoryd.ToolRef{Tool: tool}, Input: raw, Output: output, Success: true,
		TokenCost: -1,
	}}
}

func unpack(packed []byte) ([]byte, error) {
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(z)
}

// writeOutputs writes a set: a text if nothing is learned from it, packed otherwise.
func writeOutputs(root, name, outputs string) error {
	if slices.Contains(heldOut, name) {
		return os.WriteFile(filepath.Join(outputsOf(root), name), []byte(outputs), 0o644) //nolint:gosec // a file of the sources
	}
	var packed bytes.Buffer
	z, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if err != nil {
		return err
	}
	if _, err := z.Write([]byte(outputs)); err != nil {
		return err
	}
	if err := z.Close(); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(packedOf(root), name+".gz"), packed.Bytes(), 0o644) //nolint:gosec // a file of the sources
}

// readRecording reads the labelled calls of a recording, but for those of which nothing
// but an exit status that no judge sees says that they failed.
func readRecording(file string) (*source, error) {
	f, err := os.Open(file) //nolint:gosec // the caller names the folder
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // it was only read
	z, err := gzip.NewReader(f)
	if err != nil {
		return nil, err
	}
	s := &source{name: strings.TrimSuffix(filepath.Base(file), ".jsonl.gz"), recorded: true, held: true}
	lines := bufio.NewScanner(z)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		var line struct {
			Tool     string          `json:"tool_name"`
			Input    json.RawMessage `json:"input"`
			Output   string          `json:"output"`
			Success  bool            `json:"success"`
			TimeCost float64         `json:"time_cost"`
			Metadata struct {
				Gold string `json:"gold"`
			} `json:"metadata"`
		}
		if err := json.Unmarshal(lines.Bytes(), &line); err != nil {
			return nil, fmt.Errorf("%s, line %d: %w", s.name, len(s.calls)+1, err)
		}
		if line.Metadata.Gold == "" || line.Metadata.Gold == "error" && line.Success && strings.TrimSpace(line.Output) == "" {
			continue
		}
		s.calls = append(s.calls, labelled{label: line.Metadata.Gold, call: memoryd.Call{
			ToolRef: memoryd.ToolRef{Tool: line.Tool}, Input: line.Input, Output: line.Output, Success: line.Success,
			TimeCost: line.TimeCost, TokenCost: -1,
		}})
	}
	return s, lines.Err()
}

func (s *source) readFeatures(judge *rules.Judge) {
	var f score.Features
	for i := range s.calls {
		judge.Features(&s.calls[i].call, &f)
		s.calls[i].features = slices.Clone(f.List)
	}
}

// examples are what is learned from a source of the question whose answer is yes for a
// label. Outputs none of which is labelled as partial were labelled as failed or not, and say
// nothing of what was found.
func (s *source) examples(yes string) (examples []example) {
	isYes := func(c labelled) bool { return c.label == yes }
	if yes == questions[score.Nothing] && !slices.ContainsFunc(s.calls, isYes) {
		return nil
	}
	for i := range s.calls {
		c := &s.calls[i]
		e := example{features: c.features, yes: isYes(*c), weight: 1}
		if strings.HasPrefix(s.name, "written") {
			e.weight = writtenWeight
		}
		switch {
		case !e.yes:
			e.weight *= successWeight
		case c.label == "partial":
			e.weight *= nothingWeight
		}
		examples = append(examples, e)
	}
	return examples
}

// judged judges the calls of a source in their order, as a server does.
func (s *source) judged(judge *rules.Judge) (f figures) {
	profiles := map[string]*rules.Profile{}
	for i := range s.calls {
		c := s.calls[i].call
		var p *rules.Profile
		if s.recorded {
			if p = profiles[c.Tool]; p == nil {
				p = &rules.Profile{}
				profiles[c.Tool] = p
			}
		}
		v := judge.Judge(&c, p)
		if s.recorded {
			c.Evaluation = v.Evaluation
			p.Observe(&c, v.Doubt)
		}
		f.count(s.calls[i].label, v.Score)
		if show != "" && s.name == show && (v.Score == 0) != (s.calls[i].label == "error") {
			fmt.Printf("    %s %v %s: %s %.120s => %.240q\n", s.calls[i].label, v.Score, v.Rule, c.Tool, c.Input, c.Output)
		}
	}
	return f
}

func (f *figures) count(label string, verdict float64) {
	failed := verdict == memoryd.ScoreFailure
	switch {
	case failed && label == "error":
		f.hit++
	case failed:
		f.alarm++
	case label == "error":
		f.miss++
	}
	if label == "ok" && verdict == memoryd.ScorePartial {
		f.dulled++
	}
	if label == "partial" {
		f.halves++
		if verdict == memoryd.ScorePartial {
			f.half++
		}
	}
}
