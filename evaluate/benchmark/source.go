package benchmark

// source is the running count of one recording.
type source struct {
	name       string
	calls      int // judged, labelled or not
	unlabelled int
	leftOut    int
	unreadable int

	matrix   Matrix      // of the evaluations
	unjudged [levels]int // by label: calls that got none
	sure     Matrix      // of what the rules were sure of
	cost     spending
}

func (s *source) add(o *source) {
	s.calls += o.calls
	s.unlabelled += o.unlabelled
	s.leftOut += o.leftOut
	s.unreadable += o.unreadable
	s.matrix.add(&o.matrix)
	for l, n := range o.unjudged {
		s.unjudged[l] += n
	}
	s.sure.add(&o.sure)
	s.cost.add(&o.cost)
}

// labelled is how many calls the figures are about.
func (s *source) labelled() int {
	n := s.matrix.N()
	for _, unjudged := range s.unjudged {
		n += unjudged
	}
	return n
}

func (s *source) figures() Figures {
	f := Figures{
		Name: s.name, Calls: s.calls, Labelled: s.labelled(), Unlabelled: s.unlabelled, LeftOut: s.leftOut,
		UnreadableLines: s.unreadable, Confusion: confusionOf(&s.matrix, &s.unjudged),
		Precision: s.matrix.Precision(), Recall: s.matrix.Recall(s.unjudged[Error]), F1: s.matrix.F1(s.unjudged[Error]),
		Agreement: s.matrix.Agreement(), ErrorAgreement: s.matrix.ErrorAgreement(),
		Kappa: s.matrix.Kappa(), ErrorKappa: s.matrix.ErrorKappa(),
		Sure: Sure{
			Coverage: shareOf(s.sure.N(), s.labelled()), Right: s.sure.ErrorAgreement(), RightLevel: s.sure.Agreement(),
			Confusion: confusionOf(&s.sure, nil),
		},
	}
	for _, n := range s.unjudged {
		f.WithoutVerdict += n
	}
	f.Cost = s.cost.figures(s.calls)
	return f
}
