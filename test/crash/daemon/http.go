package daemon

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"time"
)

// Reply is what came back of a request.
type Reply struct {
	Status int
	Header http.Header
	Body   []byte
}

// Memory is a tool memory as an existing client reads it.
type Memory struct {
	MemoryID  string  `json:"memory_id"`
	WhenToUse string  `json:"when_to_use"`
	Content   string  `json:"content"`
	Score     float64 `json:"score"`
	Author    string  `json:"author"`
	Calls     []Call  `json:"tool_call_results"`
	Metadata  struct {
		Statistics map[string]any `json:"statistics"`
	} `json:"metadata"`
}

// Call is a stored call.
type Call struct {
	ToolName   string          `json:"tool_name"`
	Input      json.RawMessage `json:"input"`
	Output     string          `json:"output"`
	Score      float64         `json:"score"`
	Summary    string          `json:"summary"`
	Evaluation string          `json:"evaluation"`
	CallHash   string          `json:"call_hash"`
	CreateTime string          `json:"create_time"`
	Summarised bool            `json:"is_summarized"`
	Metadata   map[string]any  `json:"metadata"`
}

// Lifetime is how many calls the tool ever had.
func (m *Memory) Lifetime() int {
	n, _ := m.Metadata.Statistics["lifetime_calls"].(float64)
	return int(n)
}

// Answer is a response of a tool-memory endpoint.
type Answer struct {
	Answer   string `json:"answer"`
	Success  bool   `json:"success"`
	Metadata struct {
		MemoryList []Memory `json:"memory_list"`
		Rejected   []struct {
			Index  int    `json:"index"`
			Reason string `json:"reason"`
		} `json:"rejected"`
		Deduplication struct {
			Added        int `json:"added"`
			Deduplicated int `json:"deduplicated"`
		} `json:"deduplication_stats"`
		Unknown []string `json:"unknown_tool_names"`
		Skipped int      `json:"skipped"`
		Failed  []struct {
			ToolName string `json:"tool_name"`
			Reason   string `json:"reason"`
		} `json:"failed"`
	} `json:"metadata"`
}

// requestTimeout bounds each request, for a server that hangs.
const requestTimeout = time.Minute

// Send posts a body as it stands; an error means that no whole answer came.
func (p *Process) Send(path string, body []byte, header ...string) (Reply, error) {
	ctx, cancel := context.WithTimeout(context.Background(), requestTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, p.URL+path, bytes.NewReader(body))
	if err != nil {
		return Reply{}, err
	}
	req.Header.Set("Content-Type", "application/json")
	for i := 0; i+1 < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	return p.do(req)
}

func (p *Process) do(req *http.Request) (Reply, error) {
	resp, err := p.client.Do(req)
	if err != nil {
		return Reply{}, err
	}
	defer resp.Body.Close() //nolint:errcheck // it was only read
	body, err := io.ReadAll(resp.Body)
	return Reply{resp.StatusCode, resp.Header, body}, err
}

// Post sends v and reads the answer, which has to be HTTP 200.
func (p *Process) Post(path string, v any) Answer {
	p.t.Helper()
	body, err := json.Marshal(v)
	if err != nil {
		p.t.Fatal(err)
	}
	r, err := p.Send(path, body)
	if err != nil {
		p.t.Fatalf("%s: %v\n%s", path, err, p.log)
	}
	if r.Status != http.StatusOK {
		p.t.Fatalf("%s: HTTP %d: %s\n%s", path, r.Status, r.Body, p.log)
	}
	var a Answer
	if err := json.Unmarshal(r.Body, &a); err != nil {
		p.t.Fatalf("%s: %v in %s", path, err, r.Body)
	}
	return a
}

// Get asks for a page.
func (p *Process) Get(path string) Reply {
	p.t.Helper()
	req, err := http.NewRequestWithContext(p.t.Context(), http.MethodGet, p.URL+path, nil)
	if err != nil {
		p.t.Fatal(err)
	}
	r, err := p.do(req)
	if err != nil {
		p.t.Fatalf("%s: %v", path, err)
	}
	return r
}
