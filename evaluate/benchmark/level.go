package benchmark

import (
	"fmt"

	"memoryd"
)

// Level is one of the three levels of a call's outcome, as a label or as a
// score.
type Level int

// The levels, in the order of a Matrix.
const (
	Error   Level = iota // label error, score 0.0
	Partial              // label partial, score 0.5
	OK                   // label ok, score 1.0
)

// levels is how many there are.
const levels = 3

// String gives the label's word.
func (l Level) String() string { return [levels]string{"error", "partial", "ok"}[l] }

// score gives the score as it is written.
func (l Level) score() string { return [levels]string{"0.0", "0.5", "1.0"}[l] }

// LevelOf gives the level that a score stands for.
func LevelOf(score float64) Level {
	switch {
	case score <= memoryd.ScoreFailure:
		return Error
	case score < memoryd.ScoreSuccess:
		return Partial
	}
	return OK
}

// labelled reads a label; "" is none.
func labelled(word string) (l Level, known bool, err error) {
	for l := range Level(levels) {
		if l.String() == word {
			return l, true, nil
		}
	}
	if word == "" {
		return 0, false, nil
	}
	return 0, false, fmt.Errorf("metadata.gold: %q is none of ok, partial, error", word)
}
