package replicas

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// TestABacklogLongerThanTheLeaseIsJudgedOnce gives one replica more calls than it
// can have judged before others may take them.
func TestABacklogLongerThanTheLeaseIsJudgedOnce(t *testing.T) {
	const calls = 60
	model := slowly(100 * time.Millisecond)
	f := launch(t, strings.Replace(judging, "lease: 4s", "lease: 1s", 1), "", "OPENAI_BASE_URL="+model.Start(t)+"/v1", "OPENAI_API_KEY=k")
	f.add(unclear, calls)
	start := time.Now()
	eventually(t, func() string {
		if n := len(f.judged(0)); n < calls {
			return fmt.Sprintf("%d calls are judged", n)
		}
		return ""
	})
	leases := 1 + int(time.Since(start)/time.Second)
	twice := 0
	for _, times := range asked(t, model.Requests()) {
		if times > 1 {
			twice++
		}
	}
	// What a replica has under way when its lease ends may be asked for again elsewhere: as
	// many calls as it has workers. On a slow machine more leases end. Without the check of
	// leases it is most of the backlog.
	underWay := workersOf * leases
	if twice > underWay {
		t.Errorf("the model was asked more than once for %d of %d calls, %d requests in all", twice, calls, model.Counts().Requests)
	}
}
