package evaluate

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"memoryd/internal/configtest"

	"memoryd"
)

// An invalid key is said once, however many calls it meets, and so is its end.
func TestAnEndpointThatCannotBeUsedIsSaidOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newFakeStore()
		var mended atomic.Bool
		m := &scripted{answer: func(context.Context, int, memoryd.Prompt) (string, error) {
			if !mended.Load() {
				return "", modelError("credentials", false, 0)
			}
			return reply(1), nil
		}}
		var log bytes.Buffer
		cfg := configtest.Section[Config]("evaluate")
		cfg.KindSampling = 1
		d, err := NewEvaluator(cfg, unsure, m, s, slog.New(slog.NewTextHandler(&log, nil)), time.Now)
		if err != nil {
			t.Fatal(err)
		}
		d.Start(t.Context())
		for i := range 20 {
			record(t.Context(), d, s, someCall(i, "out"))
		}
		time.Sleep(time.Hour)
		mended.Store(true)
		time.Sleep(time.Hour)
		d.Stop()
		if n := strings.Count(log.String(), "the model is unavailable"); n != 1 || strings.Count(log.String(), "available again") != 1 {
			t.Errorf("said %d times:\n%s", n, log.String())
		}
		for i := range 20 {
			if e := s.call(someCall(i, "").Key).Evaluation; e.State != memoryd.Judged {
				t.Errorf("got %+v", e)
			}
		}
	})
}
