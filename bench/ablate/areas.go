package main

// area is a part of the program with measurements of its own.
type area struct {
	name, title string
	rooms       []room
	measurings  []*measuring
	// unit is the function whose calls the costs are divided by.
	unit string
	per  string
}

// room is a package and what in it is a part. All of its lists are: of words, and tables.
type room struct {
	dir string
	// least lines has a function, with what only it needs, that is a part.
	least   int
	numbers bool     // the numbers that are no whole ones are parts: they rank
	clauses []string // functions: each case of their switches is a part
	calls   []string // methods: each call of one as a statement is a part
}

// measuring is a test of a package, or a program, that prints figures.
type measuring struct {
	dir, test string
	args      []string
	// confirms says that it runs only where the others change nothing.
	confirms bool
}

// ownFolder stands in arguments for the folder of this run.
const ownFolder = "{dir}"

func areas() []area { return []area{judge(), advice(), forecast(), compaction()} }

// judge is measured on labelled calls, each source by a score that learned from all
// others; where a part changes what the score reads, it learns anew.
func judge() area {
	return area{
		name: "judge", title: "The judge", unit: "Judge.Judge", per: "call",
		rooms: []room{
			{dir: "evaluate/rules", least: 6},
			{dir: "evaluate/score", least: 6},
			{dir: "evaluate/kinds", least: 6},
			{dir: "internal/errortext", least: 6},
			{dir: "internal/reading", least: 6},
		},
		measurings: []*measuring{
			{dir: "bench/train", args: []string{"-root", "../..", "-models", ownFolder}},
			{dir: "evaluate/rules", test: "^TestRecordedBars$"},
			{dir: "evaluate", test: "^TestOneLabelHoldsForAKind$"},
		},
	}
}

// loops are agents that obey: a few, and more where these see no change.
func loops() []*measuring {
	return []*measuring{
		{dir: "guidelines", test: "^TestMeasureLoop$", args: []string{"-loops", "1"}},
		{dir: "guidelines", test: "^TestMeasureLoop$", args: []string{"-first-loop", "1", "-loops", "2"}, confirms: true},
	}
}

// advice is measured by what later failures say, and by agents that obey it.
func advice() area {
	return area{
		name: "guidelines", title: "Rules and guidelines", unit: "Writer.Compose", per: "guideline",
		rooms: []room{
			{dir: "guidelines/rules", least: 20, clauses: []string{"Rule.Mend"}},
			{dir: "guidelines/evidence", least: 20},
			{dir: "guidelines/mistakes", least: 20},
			{dir: "guidelines", least: 20, calls: []string{"add"}},
		},
		measurings: append([]*measuring{{dir: "guidelines", test: "^TestMeasureForesight$"}}, loops()...),
	}
}

// forecast is measured by recorded runs and by agents that obey it.
func forecast() area {
	return area{
		name: "forecast", title: "The forecast", unit: "Model.Assess", per: "forecast",
		rooms: []room{{dir: "guidelines/preflight", least: 20, clauses: []string{"Model.warning"}, calls: []string{"put"}}},
		measurings: append([]*measuring{
			{dir: "guidelines/preflight", test: "^TestMeasureFirstHalfAgainstSecond$"},
			{dir: "guidelines/preflight", test: "^TestMeasureRuns$"},
		}, loops()...),
	}
}

// compaction is measured by what a reader finds of what was planted, and by what later
// calls need, on the first conversations of each source.
func compaction() area {
	return area{
		name: "compaction", title: "Compaction", unit: "Compactor.Compact", per: "compaction",
		rooms: []room{
			{dir: "compact", least: 20, numbers: true},
			{dir: "compact/records", least: 20, numbers: true},
		},
		measurings: []*measuring{
			{dir: "compact", test: "^TestAReaderFindsWhatWasPlanted$", args: []string{"-most", "2"}},
			{dir: "compact", test: "^TestFutureArgumentRecall$", args: []string{"-most", "1"}},
		},
	}
}
