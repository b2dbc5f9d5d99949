//go:build unix

package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"memoryd/config"
	"memoryd/internal/access"
)

// BenchmarkAdd is one call of 2 KB through the whole server but the network:
// decoding, the rules judge, the store, the answer.
func BenchmarkAdd(b *testing.B) {
	for _, backend := range []string{config.BackendMem, config.BackendSQLite} {
		b.Run(backend, func(b *testing.B) {
			a := testApp(b, backend, b.TempDir(), "")
			a.Start(b.Context())
			b.Cleanup(func() { _ = a.Stop(context.Background()) })
			pad := strings.Repeat("lorem ipsum dolor sit amet ", 70)
			var n atomic.Int64
			b.ReportAllocs()
			b.SetParallelism(32)
			before := processorTime()
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					i := n.Add(1)
					body := fmt.Sprintf(`{"tool_name":"tool%d","async":true,"include_history":false,"tool_call_results":[`+
						`{"input":{"query":"q%d","k":10},"output":"found %d results %s","time_cost":1.5,"token_cost":12}]}`, i%100, i, i, pad)
					rec := httptest.NewRecorder()
					a.server.Handler.ServeHTTP(rec, httptest.NewRequest("POST", "http://localhost/add_tool_call_result", strings.NewReader(body)))
					if rec.Code != 200 {
						b.Fatal(rec.Body)
					}
				}
			})
			b.ReportMetric(float64((processorTime()-before).Nanoseconds())/float64(b.N)/1e3, "cpu-µs/op")
		})
	}
}

// BenchmarkRetrieve is the guideline of one of a hundred tools, asked for again, through the
// whole server but the network.
func BenchmarkRetrieve(b *testing.B) {
	a := testApp(b, config.BackendSQLite, b.TempDir(), "")
	a.Start(b.Context())
	b.Cleanup(func() { _ = a.Stop(context.Background()) })
	ask := func(path, body string) {
		rec := httptest.NewRecorder()
		a.server.Handler.ServeHTTP(rec, httptest.NewRequest("POST", "http://localhost/"+path, strings.NewReader(body)))
		if rec.Code != 200 {
			b.Fatal(rec.Body)
		}
	}
	names := make([]string, 100)
	for i := range names {
		names[i] = fmt.Sprintf("tool%d", i)
		ask("add_tool_call_result", fmt.Sprintf(`{"tool_name":%q,"tool_call_results":[{"input":{"query":"q"},"output":"found 3 results"}]}`, names[i]))
	}
	ask("summary_tool_memory", fmt.Sprintf(`{"tool_names":%q}`, strings.Join(names, ",")))
	b.ReportAllocs()
	before, n := processorTime(), 0
	for b.Loop() {
		ask("retrieve_tool_memory", fmt.Sprintf(`{"tool_names":%q,"include_history":false}`, names[n%len(names)]))
		n++
	}
	b.ReportMetric(float64((processorTime()-before).Nanoseconds())/float64(n)/1e3, "cpu-µs/op")
}

// processorTime is what this process has taken of the processors, which the load of
// the machine moves less than the clock.
func processorTime() time.Duration {
	var r syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &r) // fails of wrong arguments only
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}

// BenchmarkAddWithAKey tells what a key costs of a durable add: one after the other
// to a server that asks for keys and to one that does not, in turns, so that the load
// of the machine falls on both. key_share_% is the extra time, verify_share_% what
// verifying alone takes.
func BenchmarkAddWithAKey(b *testing.B) {
	var token string
	var keys *access.Keys
	server := func(withKeys bool) http.Handler {
		cfg, err := config.Default()
		if err != nil {
			b.Fatal(err)
		}
		cfg.SetDataDir(b.TempDir())
		cfg.HTTP.Listen = "127.0.0.1:0"
		if withKeys {
			token = access.NewToken()
			cfg.HTTP.AdminKey = token
		}
		a, err := newApp(b.Context(), cfg, func(string) string { return "" }, slog.New(slog.DiscardHandler))
		if err != nil {
			b.Fatal(err)
		}
		a.Start(b.Context())
		b.Cleanup(func() { _ = a.Stop(context.Background()) })
		if withKeys {
			keys = a.keys
		}
		return a.server.Handler
	}
	handlers := [2]http.Handler{server(false), server(true)}
	var took [2][]float64
	n := 0
	for b.Loop() {
		for i, h := range handlers {
			n++
			body := fmt.Sprintf(`{"tool_name":"t","async":true,"include_history":false,"tool_call_results":[{"input":{"q":"%d"},"output":"found"}]}`, n)
			req := httptest.NewRequest("POST", "http://localhost/add_tool_call_result", strings.NewReader(body))
			if i == 1 {
				req.Header.Set("Authorization", "Bearer "+token)
			}
			rec := httptest.NewRecorder()
			start := time.Now()
			h.ServeHTTP(rec, req)
			took[i] = append(took[i], float64(time.Since(start)))
			if rec.Code != 200 {
				b.Fatal(rec.Body)
			}
		}
	}
	start := time.Now()
	const verified = 10000
	for range verified {
		if _, err := keys.Verify(token); err != nil {
			b.Fatal(err)
		}
	}
	verify := float64(time.Since(start)) / verified
	without, with := median(took[0]), median(took[1])
	b.ReportMetric(100*(with/without-1), "key_share_%")
	b.ReportMetric(100*verify/without, "verify_share_%")
	b.ReportMetric(without/1e3, "add_µs")
}

// BenchmarkAddOfLocalUsers tells what it costs a durable add to look up whose its
// connection is: by servers that do and do not, in turns, over connections kept alive and
// over a new one each. The shares are of the median time of an add.
func BenchmarkAddOfLocalUsers(b *testing.B) {
	var urls [2]string
	for i, users := range []string{"any", "own"} {
		cfg, err := config.Default()
		if err != nil {
			b.Fatal(err)
		}
		cfg.SetDataDir(b.TempDir())
		cfg.HTTP.Listen, cfg.HTTP.LocalUsers = "127.0.0.1:0", users
		a, err := newApp(b.Context(), cfg, func(string) string { return "" }, slog.New(slog.DiscardHandler))
		if err != nil {
			b.Fatal(err)
		}
		a.tellOwners(b.Context())
		served := make(chan error, 1)
		go func() { served <- a.server.Serve(a.listener) }()
		a.Start(b.Context())
		urls[i] = "http://" + a.listener.Addr().String() + "/add_tool_call_result"
		b.Cleanup(func() { _ = a.Stop(context.Background()); _ = a.server.Close(); <-served })
	}
	var took [2][2][]float64
	clients := [2]*http.Client{{Transport: &http.Transport{}}, {Transport: &http.Transport{DisableKeepAlives: true}}}
	n := 0
	for b.Loop() {
		for turn := range urls {
			i := (turn + n/4) % 2 // who comes first has the colder caches
			url := urls[i]
			for j, client := range clients {
				n++
				body := fmt.Sprintf(`{"tool_name":"t","async":true,"include_history":false,"tool_call_results":[{"input":{"q":"%d"},"output":"found"}]}`, n)
				start := time.Now()
				answer, err := client.Post(url, "application/json", strings.NewReader(body))
				if err != nil {
					b.Fatal(err)
				}
				_, _ = io.Copy(io.Discard, answer.Body)
				_ = answer.Body.Close()
				took[i][j] = append(took[i][j], float64(time.Since(start)))
				if answer.StatusCode != http.StatusOK {
					b.Fatal(answer.Status)
				}
			}
		}
	}
	for j, name := range []string{"kept", "new"} {
		without, with := median(took[0][j]), median(took[1][j])
		b.ReportMetric(100*(with/without-1), name+"_share_%")
		b.ReportMetric(without/1e3, name+"_add_µs")
	}
}

func median(v []float64) float64 {
	slices.Sort(v)
	return v[len(v)/2]
}
