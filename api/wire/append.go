package wire

import (
	"math"
	"strconv"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// AppendAdded appends the JSON of an answer to add_tool_call_result. It writes the same bytes
// as jsonv2 without its reflection, because each recorded call needs this answer. A test
// compares the two. opts apply to the rare parts.
func (r *Response) AppendAdded(b []byte, meta *AddMetadata, rare jsonv2.Options) ([]byte, error) {
	b = appendText(append(b, `{"answer":`...), r.Answer)
	b = strconv.AppendBool(append(b, `,"success":`...), r.Success)
	b = append(b, `,"messages":[],"metadata":{"memory_list":[`...)
	var err error
	for i := range meta.MemoryList {
		if b, err = meta.MemoryList[i].appendTo(comma(b, i), rare); err != nil {
			return nil, err
		}
	}
	b = append(b, `],"deleted_memory_ids":[`...)
	for i, id := range meta.DeletedMemoryIDs {
		b = appendText(comma(b, i), id)
	}
	b = append(b, ']')
	for _, n := range []struct {
		name  string
		value int
	}{
		{`,"update_result":{"deleted_count":`, meta.UpdateResult.DeletedCount},
		{`,"inserted_count":`, meta.UpdateResult.InsertedCount},
		{`},"validation_stats":{"total_input":`, meta.ValidationStats.TotalInput},
		{`,"valid":`, meta.ValidationStats.Valid},
		{`,"filtered":`, meta.ValidationStats.Filtered},
		{`},"deduplication_stats":{"total_new":`, meta.DeduplicationStats.TotalNew},
		{`,"deduplicated":`, meta.DeduplicationStats.Deduplicated},
		{`,"added":`, meta.DeduplicationStats.Added},
	} {
		b = strconv.AppendInt(append(b, n.name...), int64(n.value), 10)
	}
	if b, err = appendAny(append(b, `},"rejected":`...), meta.Rejected, len(meta.Rejected) == 0, rare); err != nil {
		return nil, err
	}
	if len(meta.IgnoredFields) > 0 {
		if b, err = appendAny(append(b, `,"ignored_fields":`...), meta.IgnoredFields, false, rare); err != nil {
			return nil, err
		}
	}
	if len(meta.Verdicts) > 0 {
		if b, err = appendAny(append(b, `,"verdicts":`...), meta.Verdicts, false, rare); err != nil {
			return nil, err
		}
	}
	return append(b, '}', '}'), nil
}

func (m *Memory) appendTo(b []byte, rare jsonv2.Options) ([]byte, error) {
	for _, t := range []struct{ name, value string }{
		{`{"workspace_id":`, m.WorkspaceID},
		{`,"memory_id":`, m.MemoryID},
		{`,"memory_type":`, m.MemoryType},
		{`,"when_to_use":`, m.WhenToUse},
		{`,"content":`, m.Content},
	} {
		b = appendText(append(b, t.name...), t.value)
	}
	b = m.Score.appendTo(append(b, `,"score":`...))
	b = appendText(append(b, `,"time_created":`...), m.TimeCreated)
	b = appendText(append(b, `,"time_modified":`...), m.TimeModified)
	b = appendText(append(b, `,"author":`...), m.Author)
	b = append(b, `,"tool_call_results":[`...)
	var err error
	for i := range m.ToolCallResults {
		if b, err = m.ToolCallResults[i].appendTo(comma(b, i)); err != nil {
			return nil, err
		}
	}
	b = append(b, `],"metadata":{`...)
	if m.Metadata.Statistics != (Statistics{}) {
		if b, err = appendAny(append(b, `"statistics":`...), m.Metadata.Statistics, false, rare); err != nil {
			return nil, err
		}
		b = append(b, ',')
	}
	b = strconv.AppendInt(append(b, `"guideline_revision":`...), m.Metadata.GuidelineRevision, 10)
	return append(b, '}', '}'), nil
}

func (c *Call) appendTo(b []byte) ([]byte, error) {
	b = appendText(append(b, `{"tool_name":`...), c.ToolName)
	var err error
	if b, err = appendValue(append(b, `,"input":`...), c.Input); err != nil {
		return nil, err
	}
	b = appendText(append(b, `,"output":`...), c.Output)
	b = strconv.AppendBool(append(b, `,"success":`...), c.Success)
	b = c.TimeCost.appendTo(append(b, `,"time_cost":`...))
	b = strconv.AppendInt(append(b, `,"token_cost":`...), c.TokenCost, 10)
	b = appendText(append(b, `,"create_time":`...), c.CreateTime)
	if b, err = appendValue(append(b, `,"metadata":`...), c.Metadata); err != nil {
		return nil, err
	}
	b = appendText(append(b, `,"summary":`...), c.Summary)
	b = appendText(append(b, `,"evaluation":`...), c.Evaluation)
	b = c.Score.appendTo(append(b, `,"score":`...))
	b = appendText(append(b, `,"call_hash":`...), c.CallHash)
	b = strconv.AppendBool(append(b, `,"is_summarized":`...), c.IsSummarized)
	return append(b, '}'), nil
}

func (f Float) appendTo(b []byte) []byte {
	if v := float64(f); v == math.Trunc(v) && math.Abs(v) < 1e15 {
		return strconv.AppendFloat(b, v, 'f', 1, 64)
	}
	return append(b, jsontext.Float(float64(f)).String()...)
}

// comma goes before all elements but the first.
func comma(b []byte, i int) []byte {
	if i == 0 {
		return b
	}
	return append(b, ',')
}

// appendText replaces what is not valid.
func appendText(b []byte, s string) []byte {
	b, _ = jsontext.AppendQuote(b, s)
	return b
}

// appendValue writes a value without white space; none is null.
func appendValue(b []byte, v jsontext.Value) ([]byte, error) {
	if v == nil {
		return append(b, "null"...), nil
	}
	return jsontext.AppendFormat(b, v, jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true))
}

func appendAny(b []byte, v any, empty bool, rare jsonv2.Options) ([]byte, error) {
	if empty {
		return append(b, '[', ']'), nil
	}
	text, err := jsonv2.Marshal(v, rare)
	return append(b, text...), err
}
