package evidence

// Order is when runs called a tool for the first time.
type Order struct {
	// Runs are those that are known, First of which called it before any other tool.
	Runs  int `json:"runs"`
	First int `json:"first,omitempty"`
	// Then are runs that called other tools as well.
	Then int `json:"then,omitempty"`
	// After is the tool that most runs had called before, in Before of them.
	After  string `json:"after,omitempty"`
	Before int    `json:"before,omitempty"`
	// Sole reports that one of several parties alone made these runs.
	Sole bool `json:"sole,omitempty"`
}

// orderOf looks at what runs called before a tool, named own.
func orderOf(own string, obs []Observation, who *parties) (o Order) {
	before, others := map[string]int{}, map[uint64]bool{}
	var by backers
	for i := range obs {
		ob := &obs[i]
		if !ob.Named || ob.Turn == 0 {
			continue
		}
		for _, tool := range ob.Before {
			if tool != own {
				others[ob.Run] = true
			}
			if ob.Turn == 1 {
				before[tool]++
			}
		}
		if ob.Turn > 1 {
			continue
		}
		o.Runs++
		by.add(who.of[i])
		if len(ob.Before) == 0 {
			o.First++
		}
	}
	for tool, n := range before {
		if n > o.Before || n == o.Before && tool < o.After {
			o.After, o.Before = tool, n
		}
	}
	o.Then, o.Sole = len(others), who.sole(by)
	return o
}
