package config

import (
	"maps"
	"slices"
	"strings"
	"sync"
)

// becameOf says of each key that is no more what became of it: "key key ...: sentence"
// a line. "*" stands for the name of a model.
const becameOf = `
store.journal store.spool: while Qdrant is away an add gets 503 and Retry-After; clients, wrapper and hooks keep what they could not send
store.qdrant.packed: calls are always packed
store.qdrant.strict: collections are used as they were made; the log names the differences
store.qdrant.tool_shards store.qdrant.connections store.qdrant.flush_interval store.qdrant.max_reply_bytes: the value is fixed (1 shard, 3 connections, 1s, 64 MiB)
store.qdrant.retries: a request is tried up to seven times within store.qdrant.patience
store.qdrant.remember store.qdrant.verdict_cache: the value is fixed (2,000,000 calls, 200,000 verdicts)
store.sqlite.queue store.sqlite.queue_bytes store.sqlite.wal_bytes store.sqlite.readers: the value is fixed (4,096 writes, 64 MiB, 64 MiB, 4 readers)
store.sqlite.identity_window store.sqlite.sample_cache store.sqlite.verdict_cache: the value is fixed (1,000,000 calls, 1,000,000 samples, 100,000 verdicts)
search: tools are searched by words alone
http.key_burst: a key with a rate may send 100 requests at once
http.max_wait http.read_timeout http.write_timeout http.idle_timeout: the value is fixed (5s, 1m, 10m, 2m)
http.pprof_public: profiles are served on loopback only; use a tunnel
llm.*.total_timeout: a request with its retries may take three times attempt_timeout
llm.*.max_queue llm.*.fallback_after llm.*.breaker_failures: the value is fixed (20,000 requests, 5s, 8 failures)
evaluate.max_input_bytes evaluate.max_output_bytes evaluate.max_context_bytes evaluate.earlier_verdicts: the value is fixed (800, 1,200 and 600 bytes, 2 verdicts)
evaluate.queue_size evaluate.max_attempts evaluate.retry_min evaluate.retry_max: the value is fixed (4,096 calls, 5 tries, 2s to 15m)
evaluate.request_timeout: it is five minutes, or six times the model's attempt_timeout where that is more
evaluate.profile_tools evaluate.profile_calls evaluate.profile_ttl: the value is fixed (20,000 tools, 32 calls, 5m)
monitor watch: what a judge is compared with is fixed (its newest 200 verdicts, 50 alike in a row)
trace.queue trace.interval trace.timeout trace.stop_timeout: the value is fixed (4,096 spans, 5s, 10s, 3s)
evaluate.rules: what is unusual is fixed (10 successes, 6 deviations, 3 times the median, 1s)
usage.keep usage.flush_interval: the value is fixed (five weeks, 2s)
guidelines.min_calls: a rule needs calls that bear it out, however many there are
guidelines.fallback_to_rules: the rules write the guideline whenever the model's answer cannot be used
guidelines.mine_calls guidelines.token_budget guidelines.max_answer_tokens: the value is fixed (2,000 calls, 8,000 and 1,200 tokens)
op.receive_hook_op.params.deny: op.receive_hook_op.params.at_call says what may be done about a call
op.receive_hook_op.params.max_tokens: a session is reported the rules of its project when it begins, in at most 800 characters
revisions.ab_share: all are shown the newest version; revisions.untold_share keeps a share of the runs untold
revisions.per_round revisions.max_age revisions.false_alarms: the value is fixed (200 guidelines, 30 days, 0.05)
compact.media_tokens compact.min_gain_fraction compact.cool_down_fraction compact.summary_tokens: the value is fixed (765 tokens, 0.1, 0.1, 2,000 tokens)
compact.redact compact.remember_for: the value is fixed (always, 10m)
compact.default.excluded_tools compact.forge.excluded_tools: it is compact.excluded_tools now, of all profiles
compact.default.also_excluded_tools compact.forge.also_excluded_tools: it is compact.also_excluded_tools now, of all profiles
compact.default.summary_role compact.deerflow.summary_role compact.forge.summary_role compact.ra_aid.summary_role: it is compact.summary_role now, of all profiles
compact.default.tail_share compact.default.preview_tokens compact.default.excerpt_request compact.default.keep_below_tokens: a request can say it
compact.deerflow.enabled compact.deerflow.model_name compact.deerflow.summary_prompt compact.forge.keep_below_tokens: a request can say it
compact.ra_aid.enable_condensation compact.ra_aid.max_tokens_per_summary compact.ra_aid.summary_buffer_ratio: a request can say it
compact.ra_aid.hybrid_loss compact.ra_aid.condenser_model: a request can say it
compact.model.prompt_tokens compact.model.answer_tokens compact.model.parallel compact.model.timeout: the value is fixed (24,000 and 800 tokens, 8, 1m)
compact.model.breaker_failures compact.model.breaker_pause: the value is fixed (5 failures, 2m)
`

// goneKeys are the lines of becameOf by key.
var goneKeys = sync.OnceValue(func() map[string]string {
	gone := map[string]string{}
	for line := range strings.Lines(becameOf) {
		keys, sentence, _ := strings.Cut(strings.TrimSpace(line), ": ")
		for key := range strings.FieldsSeq(keys) {
			gone[key] = sentence
		}
	}
	return gone
})

// Removed returns the keys that earlier versions had.
func Removed() []string { return slices.Sorted(maps.Keys(goneKeys())) }

// removed says what became of a key; "" where it never was one.
func removed(key string) string {
	if parts := strings.Split(key, "."); len(parts) == 3 && parts[0] == "llm" {
		key = "llm.*." + parts[2]
	}
	return goneKeys()[key]
}
