package constraints

import "regexp"

// Habit is a way of writing a text that breaks the rule of a class, where an input
// alone tells it: what its remedy forbids, so that callers who heed it can be counted.
type Habit struct {
	Class Class
	// Words name what such a text has: "double quotes".
	Words string
	// Do is the remedy where most failures of the class come of it; "" is that of
	// the class.
	Do            string
	about, breaks *regexp.Regexp
}

// habits are all of them: a place here is stored with observations, so new ones go to
// the end.
var habits = []Habit{
	{Class: NoCommand, Words: "prose", breaks: regexp.MustCompile(`^\s*[A-Z][a-z']+[!,.:]? [A-Za-z]`)},
	{Class: NoCommand, Words: "a leading backtick", breaks: regexp.MustCompile("^\\s*`")},
	{Class: Awk, Words: "double quotes", Do: "Quote awk programs singly", about: regexp.MustCompile(`\bawk\s`), breaks: regexp.MustCompile(`"`)},
	{Class: Glob, Words: "others", about: findPattern, breaks: regexp.MustCompile(`-i?(?:name|path|wholename)\s+[^'\s]`)},
	{
		Class: Timeout, Words: "`.` or `/` as a whole", Do: "Search a named directory, not `.` or `/` as a whole", about: searches,
		breaks: regexp.MustCompile(`\b(?:find|du|grep -[a-zA-Z]*[rR][a-zA-Z]*|ls -[a-zA-Z]*R[a-zA-Z]*)\b[^|;&]*?\s[./]+(?:\s|$)`),
	},
}

var (
	findPattern = regexp.MustCompile(`-i?(?:name|path|wholename)\s`)
	searches    = regexp.MustCompile(`\b(?:find|du|grep -[a-zA-Z]*[rR]|ls -[a-zA-Z]*R)`)
)

// Habits lists the habits that are known, the same of all places and at all times.
func Habits() []Habit { return habits }

// In reports whether a text is of the kind that the habit is about, and whether it
// is written so.
func (h *Habit) In(text string) (about, breaks bool) {
	if h.about != nil && !h.about.MatchString(text) {
		return false, false
	}
	return true, h.breaks.MatchString(text)
}
