package main

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
)

// spanOf is an export request with one span of a tool call, as JSON.
func spanOf(span, parent, kind, attributes string) string {
	return fmt.Sprintf(`{"resourceSpans":[{"scopeSpans":[{"spans":[{"traceId":"5b8efff798038103d269b633813fc60c","spanId":%q,"parentSpanId":%q,"kind":%s,
		"name":"execute_tool lookup","startTimeUnixNano":"1763776161000000000","endTimeUnixNano":"1763776162500000000","status":{"code":2,"message":"no such order A1"},
		"attributes":[{"key":"gen_ai.operation.name","value":{"stringValue":"execute_tool"}},{"key":"gen_ai.tool.name","value":{"stringValue":"lookup"}},
		{"key":"gen_ai.tool.call.arguments","value":{"stringValue":"{\"order\":\"A1\"}"}}%s]}]}]}]}`, span, parent, kind, attributes)
}

func callsOf(t *testing.T, a *app, workspace, tool string) (calls []map[string]any) {
	t.Helper()
	resp, err := http.Get("http://" + a.Addr().String() + "/v1/workspaces/" + workspace + "/tools/" + tool + "/calls")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var page struct {
		Calls []map[string]any `json:"calls"`
	}
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(body, &page); err != nil {
		t.Fatalf("%v in %s", err, body)
	}
	return page.Calls
}

// export posts a body and gives the status, the content type and the answer.
func export(t *testing.T, a *app, path, contentType, encoding string, body []byte) (status int, kind, answer string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+a.Addr().String()+path, bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", contentType)
	if encoding != "" {
		req.Header.Set("Content-Encoding", encoding)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, resp.Header.Get("Content-Type"), string(text)
}

// A framework's span, the MCP client's below it and the same request sent twice are
// one call, whatever order they come in.
func TestACallThatSeveralSpansTellOfIsRecordedOnce(t *testing.T) {
	a := realApp(t)
	inner := spanOf("eee19b7ec3c1b174", "aaaaaaaaaaaaaaaa", "3", `,{"key":"mcp.method.name","value":{"stringValue":"tools/call"}}`)
	outer := spanOf("aaaaaaaaaaaaaaaa", "", "1", `,{"key":"gen_ai.tool.call.id","value":{"stringValue":"call_1"}}`)
	server := spanOf("bbbbbbbbbbbbbbbb", "eee19b7ec3c1b174", "2", `,{"key":"mcp.method.name","value":{"stringValue":"tools/call"}}`)
	for _, body := range []string{server, inner, outer, inner, outer} {
		status, kind, answer := export(t, a, "/v1/traces", "application/json", "", []byte(body))
		if status != http.StatusOK || kind != "application/json" || !strings.HasPrefix(answer, "{") {
			t.Fatalf("%d %s %s", status, kind, answer)
		}
	}
	calls := callsOf(t, a, "default", "lookup")
	if len(calls) != 1 {
		t.Fatalf("%d calls: %v", len(calls), calls)
	}
	c := calls[0]
	if c["success"] != false || c["time_cost"] != 1.5 || c["output"] != "no such order A1" {
		t.Errorf("%v", c)
	}
	text := scrapeOf(t, a)
	for _, want := range []string{
		`memoryd_intake_calls_total{outcome="new",source="otlp:genai"} 1`, `memoryd_intake_calls_total{outcome="server_side",source="otlp"} 1`,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %s in %s", want, text[max(0, strings.Index(text, "memoryd_intake")):])
		}
	}
}

// What exporters send when memoryd was started anew: the same requests again.
func TestARepeatedExportAfterARestartAddsNothing(t *testing.T) {
	dir := t.TempDir()
	body := []byte(spanOf("aaaaaaaaaaaaaaaa", "", "1", ""))
	for range 2 {
		a := realApp(t, "MEMORYD_STORE_SQLITE_DIR="+dir)
		if status, _, answer := export(t, a, "/v1/workspaces/team/otlp/v1/traces", "application/json", "", body); status != http.StatusOK {
			t.Fatalf("%d %s", status, answer)
		}
		if calls := callsOf(t, a, "team", "lookup"); len(calls) != 1 {
			t.Fatalf("%d calls", len(calls))
		}
		if err := a.Stop(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}

func TestTheReceiverSpeaksOTLP(t *testing.T) {
	oneByOne(t)
	a := realApp(t)
	var zipped bytes.Buffer
	w := gzip.NewWriter(&zipped)
	if _, err := w.Write([]byte(spanOf("aaaaaaaaaaaaaaaa", "", "1", ""))); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	bomb := bytes.Buffer{}
	w = gzip.NewWriter(&bomb)
	for range 64 {
		if _, err := w.Write(make([]byte, 1<<20)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	const proto = "application/x-protobuf"
	for _, tc := range []struct {
		name, path, contentType, encoding string
		body                              []byte
		status                            int
		kind                              string
	}{
		{"gzip", "/v1/traces", "application/json", "gzip", zipped.Bytes(), 200, "application/json"},
		{"nothing, as protobuf", "/v1/traces", proto, "", nil, 200, proto},
		{"metrics are dropped", "/v1/metrics", proto, "", []byte{1, 2, 3}, 200, proto},
		{"metrics as JSON", "/v1/metrics", "application/json", "", []byte(`{}`), 200, "application/json"},
		{"no logs", "/v1/logs", "application/json", "", []byte(`{}`), 200, "application/json"},
		{"not JSON", "/v1/traces", "application/json", "", []byte(`{"resourceSpans":[`), 422, "application/problem+json"},
		{"not protobuf", "/v1/logs", proto, "", []byte{255, 255, 255}, 422, proto},
		{"a text", "/v1/traces", "text/plain", "", []byte("x"), 415, proto},
		{"a bomb", "/v1/traces", "application/json", "gzip", bomb.Bytes(), 413, "application/problem+json"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			status, kind, answer := export(t, a, tc.path, tc.contentType, tc.encoding, tc.body)
			if status != tc.status || kind != tc.kind {
				t.Errorf("%d %s %q", status, kind, answer)
			}
			if status >= 400 && kind == proto {
				if number, _, n := protowire.ConsumeTag([]byte(answer)); number != 2 || n != 1 {
					t.Errorf("not a google.rpc.Status: %q", answer)
				}
			}
		})
	}
	if calls := callsOf(t, a, "default", "lookup"); len(calls) != 1 {
		t.Errorf("%d calls", len(calls))
	}
}
