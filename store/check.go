package store

import (
	"cmp"
	"fmt"
	"math"
	"regexp"
	"time"
	"unicode/utf8"

	"memoryd"
)

// Check returns an Invalid error for a batch that can never be stored.
func (b Batch) Check() error {
	if len(b.Calls) == 0 {
		return nil
	}
	if err := CheckName("workspace", b.Workspace); err != nil {
		return err
	}
	if b.Keep < 1 {
		return memoryd.Errorf(memoryd.Invalid, "keep must be at least 1, not %d", b.Keep)
	}
	for i := range b.Calls {
		if err := checkCall(b.Workspace, &b.Calls[i]); err != nil {
			return memoryd.Errorf(memoryd.Invalid, "call %d: %s", i, err)
		}
	}
	return nil
}

func checkCall(workspace string, c *memoryd.Call) error {
	if err := CheckName("tool", c.Tool); err != nil {
		return err
	}
	if c.Workspace != "" && c.Workspace != workspace {
		return memoryd.Errorf(memoryd.Invalid, "it belongs to another workspace than its batch")
	}
	if c.Key == (memoryd.CallKey{}) {
		return memoryd.Errorf(memoryd.Invalid, "it has no key")
	}
	if math.IsNaN(c.TimeCost) {
		return memoryd.Errorf(memoryd.Invalid, "its time cost is not a number")
	}
	return checkEvaluation(&c.Evaluation)
}

// checkEvaluation returns an Invalid error for an evaluation that can never be stored.
func checkEvaluation(e *memoryd.Evaluation) error {
	if math.IsNaN(e.Score) || math.IsNaN(e.Cost.Requests) || math.IsInf(e.Cost.Requests, 0) {
		return memoryd.Errorf(memoryd.Invalid, "the score or the cost is not a number")
	}
	switch e.State {
	case memoryd.Pending, memoryd.Judged, memoryd.Failed:
		return nil
	}
	return memoryd.Errorf(memoryd.Invalid, "unknown evaluation state %q", string(e.State))
}

// checkVerdicts returns an Invalid error if one of the verdicts can never be stored.
func checkVerdicts(verdicts []Verdict) error {
	for i := range verdicts {
		if err := checkEvaluation(&verdicts[i].Evaluation); err != nil {
			return memoryd.Errorf(memoryd.Invalid, "verdict %d: %s", i, err)
		}
	}
	return nil
}

// CheckName returns an Invalid error for an invalid name; what says whose name it is.
func CheckName(what, name string) error {
	if name == "" || len(name) > memoryd.MaxNameBytes || !utf8.ValidString(name) {
		return memoryd.Errorf(memoryd.Invalid, "a %s name must be 1 to %d bytes of UTF-8", what, memoryd.MaxNameBytes)
	}
	return nil
}

// checkLimit returns an Invalid error for a negative limit.
func checkLimit(limit int) error {
	if limit < 0 {
		return memoryd.Errorf(memoryd.Invalid, "a limit must not be negative")
	}
	return nil
}

// Check returns an Invalid error for a page that ListCalls can never return.
func (p CallPage) Check() error {
	if p.Before < 0 {
		return memoryd.Errorf(memoryd.Invalid, "the number before which a page ends must not be negative")
	}
	return checkLimit(p.Limit)
}

// checkRun returns an Invalid error for arguments that RunCalls can never answer.
func checkRun(workspace, run string, limit int) error {
	return cmp.Or(CheckName("workspace", workspace), CheckName("run", run), checkLimit(limit))
}

// checkRecordKey returns an Invalid error for a key that cannot identify a record.
func checkRecordKey(k RecordKey) error {
	if k.Tool != "" && k.Workspace == "" {
		return memoryd.Errorf(memoryd.Invalid, "a record of a tool must name its workspace")
	}
	const none = "-" // a workspace or tool that the key does not name
	return cmp.Or(CheckName("workspace", cmp.Or(k.Workspace, none)), CheckName("tool", cmp.Or(k.Tool, none)), checkKind(k.Kind),
		CheckName("record", k.ID))
}

// kindForm is the form of a kind of records.
var kindForm = regexp.MustCompile(`^[a-z0-9_]{1,32}$`)

func checkKind(kind string) error {
	if !kindForm.MatchString(kind) {
		return memoryd.Errorf(memoryd.Invalid, "a record kind must be 1 to 32 lower-case letters, digits and underscores")
	}
	return nil
}

// checkRecordRange returns an Invalid error for arguments that ListRecords can never answer. An
// empty ID starts at the beginning.
func checkRecordRange(from RecordKey, limit int) error {
	from.ID = cmp.Or(from.ID, "0")
	return cmp.Or(checkRecordKey(from), checkLimit(limit))
}

// CheckRecord returns an Invalid error for a record that can never be stored.
func CheckRecord(r *Record) error {
	if err := checkRecordKey(r.RecordKey); err != nil {
		return err
	}
	if len(r.Data) > MaxRecordBytes {
		return memoryd.Errorf(memoryd.TooLarge, "a record can have at most %d bytes", MaxRecordBytes)
	}
	if r.Revision < AnyRevision {
		return memoryd.Errorf(memoryd.Invalid, "a revision must not be negative")
	}
	return nil
}

// CheckRestore returns an Invalid error for a tool that can never be restored: its calls are out of
// order, or contradict its counters.
func CheckRestore(t *memoryd.Tool, calls []memoryd.Call) error {
	if err := CheckName("workspace", t.Workspace); err != nil {
		return err
	}
	last := int64(0)
	for i := range calls {
		c := &calls[i]
		if err := checkCall(t.Workspace, c); err != nil {
			return memoryd.Errorf(memoryd.Invalid, "call %d: %s", i, err)
		}
		if c.Tool != t.Tool || c.Seq <= last {
			return memoryd.Errorf(memoryd.Invalid, "call %d: it belongs to another tool or is out of order", i)
		}
		last = c.Seq
	}
	if err := CheckName("tool", t.Tool); err != nil {
		return err
	}
	if len(calls) == 0 || t.Lifetime < int64(len(calls)) || t.Duplicates < 0 || t.Duplicates > t.Lifetime ||
		t.Revision < 1 || t.Guideline.Revision < 0 {
		return memoryd.Errorf(memoryd.Invalid, "the counters of the tool contradict its calls")
	}
	return nil
}

// CheckRecords returns an Invalid error for records that can never be stored together.
func CheckRecords(rs []Record) error {
	for i := range rs {
		if err := CheckRecord(&rs[i]); err != nil {
			return memoryd.Errorf(memoryd.Invalid, "record %d: %s", i, err)
		}
		if rs[i].Workspace != rs[0].Workspace {
			return memoryd.Errorf(memoryd.Invalid, "record %d: it belongs to another workspace than the first", i)
		}
	}
	return nil
}

// checkOverride returns an Invalid error for an invalid verdict.
func checkOverride(v *Verdict) error {
	switch a := v.Amendment; {
	case a != nil && math.IsNaN(a.TimeCost):
		return memoryd.Errorf(memoryd.Invalid, "its time cost is not a number")
	case a == nil && v.Evaluation.State != memoryd.Judged:
		return memoryd.Errorf(memoryd.Invalid, "a correction is a verdict")
	}
	return checkEvaluation(&v.Evaluation)
}

// Within returns an error for a setting outside its limits; key is the name of the setting.
func Within[T int | int64 | time.Duration](key string, value, least, most T) error {
	if value < least || value > most {
		return fmt.Errorf("%s: must lie between %v and %v, not %v", key, least, most, value)
	}
	return nil
}
