package store

import (
	"math"
	"unicode/utf8"

	"memoryd"
)

// Validate refuses, as Invalid, a batch that can never be stored: every backend
// calls it first.
func (b Batch) Validate() error {
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
	return CheckEvaluation(&c.Evaluation)
}

// CheckEvaluation refuses an evaluation that can never be stored.
func CheckEvaluation(e *memoryd.Evaluation) error {
	if math.IsNaN(e.Score) {
		return memoryd.Errorf(memoryd.Invalid, "the score is not a number")
	}
	switch e.State {
	case memoryd.Pending, memoryd.Judged, memoryd.Failed:
		return nil
	}
	return memoryd.Errorf(memoryd.Invalid, "unknown evaluation state %q", string(e.State))
}

// CheckName refuses what is no name; what says what it would name.
func CheckName(what, name string) error {
	if name == "" || len(name) > memoryd.MaxNameBytes || !utf8.ValidString(name) {
		return memoryd.Errorf(memoryd.Invalid, "a %s name is 1 to %d bytes of UTF-8", what, memoryd.MaxNameBytes)
	}
	return nil
}

// CheckLimit refuses a negative limit.
func CheckLimit(limit int) error {
	if limit < 0 {
		return memoryd.Errorf(memoryd.Invalid, "a limit is not negative")
	}
	return nil
}
