package monitor

import (
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	"memoryd"
	"memoryd/internal/stats"
)

// Monitor follows judges. It is safe for concurrent use.
type Monitor struct {
	cfg    Config
	log    *slog.Logger
	now    func() time.Time
	fisher stats.Fisher

	mu     sync.Mutex
	judges map[identity]*judge
	latest map[string]identity // by version: who said something last
}

// identity tells judges apart: versions of one configuration, and within one
// version a model from its fallback.
type identity struct{ version, name string }

// maxJudges bounds how many judges are followed; the one that was silent longest
// goes first.
const maxJudges = 32

// New makes a monitor; settings out of bounds are brought within them.
func New(cfg Config, log *slog.Logger, now func() time.Time) *Monitor {
	cfg = cfg.within()
	return &Monitor{
		cfg: cfg, log: log, now: now,
		fisher: stats.NewFisher(2*maxEarlier + 2*maxRun + maxWindow),
		judges: map[identity]*judge{}, latest: map[string]identity{},
	}
}

// Note takes in that a judge gave a call of the tool the evaluation e, before any
// bound, and what the rules said of the same call (evaluate.Event's Said and
// Ruled). Evaluations of the cache and of people are nobody's news, and neither is
// an evaluation without a score.
func (w *Monitor) Note(ref memoryd.ToolRef, e, ruled memoryd.Evaluation) {
	model := strings.HasPrefix(e.JudgedBy, "llm:")
	if e.State != memoryd.Judged || !model && e.JudgedBy != memoryd.JudgedByRules {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	id := identity{e.JudgeVersion, e.JudgedBy}
	j := w.judge(id)
	w.latest[e.JudgeVersion] = id
	level := levelOf(e.Score)
	j.note(ref, level)
	if !model {
		return // the rules agree with themselves
	}
	other := level // where the rules said nothing they do not differ
	if ruled.State == memoryd.Judged {
		other = levelOf(ruled.Score)
		j.withRules.add(level == other)
	}
	j.alike.add(level, other)
	w.review(id, j)
}

// Overruled takes in that a person, shown the evaluation before, gave after. A
// person who gives the same score agrees.
func (w *Monitor) Overruled(before, after memoryd.Evaluation) {
	if before.State != memoryd.Judged || after.State != memoryd.Judged || strings.HasPrefix(before.JudgedBy, memoryd.PersonPrefix) {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	id := identity{before.JudgeVersion, before.JudgedBy}
	if before.JudgedBy == memoryd.JudgedByCache { // then it is some model's of this version
		known, ok := w.latest[before.JudgeVersion]
		if !ok {
			return
		}
		id = known
	}
	j := w.judge(id)
	j.withPeople.add(levelOf(before.Score) == levelOf(after.Score))
	w.review(id, j)
}

// judge gives what is known of a judge. The lock is held.
func (w *Monitor) judge(id identity) *judge {
	now := w.now()
	if j, ok := w.judges[id]; ok {
		j.heard = now
		return j
	}
	if len(w.judges) >= maxJudges {
		w.dropSilent()
	}
	j := newJudge(w.cfg)
	j.heard = now
	w.judges[id] = j
	return j
}

func (w *Monitor) dropSilent() {
	var silent identity
	var since time.Time
	for id, j := range w.judges {
		if since.IsZero() || j.heard.Before(since) {
			silent, since = id, j.heard
		}
	}
	delete(w.judges, silent)
	if w.latest[silent.version] == silent {
		delete(w.latest, silent.version)
	}
}

// review raises and lowers a judge's warnings, and says each change once.
func (w *Monitor) review(id identity, j *judge) {
	for _, p := range []struct {
		topic   string
		warning string
	}{
		{"scores", j.alike.review(w.fisher)},
		{"rules", j.withRules.review(w.fisher, "the rules")},
		{"people", j.withPeople.review(w.fisher, "people")},
	} {
		was := j.warnings[p.topic]
		switch {
		case was == "" && p.warning != "":
			w.log.Warn("check a judge", "judge", id.name, "version", id.version, "warning", p.warning)
		case was != "" && p.warning == "":
			w.log.Info("a judge's warning has ended", "judge", id.name, "version", id.version, "warning", was)
		}
		j.warnings[p.topic] = p.warning
	}
}

// Config is the watch section of the configuration.
type Config struct {
	// Window is how many of a judge's newest evaluations are compared with those
	// before; of people's corrections a quarter of it.
	Window int `yaml:"window"`
	// AlikeAfter is how many evaluations in a row must have one score before that is
	// looked into.
	AlikeAfter int `yaml:"alike_after"`
}

// The bounds of both settings.
const (
	minWindow, maxWindow = 40, 2000
	minAlike, maxAlike   = 20, 2000
)

// Validate reports the first setting that cannot work, by its yaml key.
func (c Config) Validate() error {
	if c.Window < minWindow || c.Window > maxWindow {
		return fmt.Errorf("window: must be %d to %d, got %d", minWindow, maxWindow, c.Window)
	}
	if c.AlikeAfter < minAlike || c.AlikeAfter > maxAlike {
		return fmt.Errorf("alike_after: must be %d to %d, got %d", minAlike, maxAlike, c.AlikeAfter)
	}
	return nil
}

// within brings settings that were not validated into their bounds.
func (c Config) within() Config {
	return Config{
		Window:     min(max(c.Window, minWindow), maxWindow),
		AlikeAfter: min(max(c.AlikeAfter, minAlike), maxAlike),
	}
}
