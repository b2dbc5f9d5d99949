package ops

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"memoryd"
	"memoryd/evaluate/kinds"
	"memoryd/internal/reading"
	"memoryd/internal/textsafe"
	"memoryd/store"
)

// OutputKind is a kind of output of a tool.
type OutputKind struct {
	ID string `json:"id" pattern:"^[0-9a-f]{16}$"`
	// Template is the output without its data.
	Template  string `json:"template"`
	Untrusted bool   `json:"untrusted" const:"true"` // always true: the template repeats what the tool said
	// Calls is the number of stored calls of this kind.
	Calls   int `json:"calls"`
	Good    int `json:"good"`    // with score 1
	Partial int `json:"partial"` // with score 0.5
	Failed  int `json:"failed"`  // with score 0
	// First is when the oldest of them was made, and Last when the newest was.
	First time.Time `json:"first"`
	Last  time.Time `json:"last"`
	// Example is the newest call.
	Example memoryd.Call `json:"-"`
	// Score applies to further calls of this kind: from the labels of the kind, otherwise the verdict on
	// the example.
	Score float64 `json:"score"`
	// By names the judge.
	By string `json:"by"`
	// Sure is false if the rules are unsure, or if labels contradict each other.
	Sure bool `json:"sure"`
	// Split reports that labels of calls of the kind contradict each other.
	Split bool `json:"split"`
	// Labelled reports that a person labelled the kind.
	Labelled bool `json:"labelled"`
}

// mostKinds limits the number of kinds in a list, and kindCalls the number of calls that are read
// for it.
const (
	mostKinds = 500
	kindCalls = 20_000
)

// listKinds lists the kinds of output among a tool's stored calls: first those without a sure
// verdict, then the others, each sorted by the number of calls.
func (d *Deps) listKinds(ctx context.Context, ref memoryd.ToolRef) (found []OutputKind, err error) {
	if _, err := d.Store.Tool(ctx, ref); err != nil {
		return found, err
	}
	book, err := kinds.Read(ctx, d.Store, ref)
	if err != nil {
		return found, err
	}
	byID := map[reading.ID]*OutputKind{}
	seen := 0
	for c, err := range store.AllCalls(ctx, d.Store, ref, false) {
		if err != nil {
			return found, err
		}
		if seen++; seen > kindCalls {
			break
		}
		k := reading.KindOf(c.Input, c.Output)
		o := byID[k.ID()]
		if o == nil {
			o = d.newKind(ctx, &k, &c, book)
			byID[k.ID()] = o
		}
		o.count(&c)
	}
	for _, o := range byID {
		found = append(found, *o)
	}
	slices.SortFunc(found, func(a, b OutputKind) int {
		return cmp.Or(cmp.Compare(rank(a.Sure), rank(b.Sure)), cmp.Compare(b.Calls, a.Calls), strings.Compare(a.ID, b.ID))
	})
	return found[:min(len(found), mostKinds)], nil
}

func rank(sure bool) int {
	if sure {
		return 1
	}
	return 0
}

// newKind describes the kind of a tool's newest call of it.
func (d *Deps) newKind(ctx context.Context, k *reading.Kind, c *memoryd.Call, book *kinds.Book) *OutputKind {
	o := &OutputKind{ID: k.ID().String(), Template: k.Template, Untrusted: true, Example: *c, Last: c.Time}
	e, sure := d.Judge.Under(ctx, c, book)
	o.Score, o.By, o.Sure = e.Score, e.JudgedBy, sure
	labels := book.Of(k.ID())
	o.Labelled = slices.ContainsFunc(labels, func(l kinds.Label) bool { return l.ByPerson() })
	if v, known := book.Decide(k, c.Source()); len(labels) > 0 && (!known || v.Split) {
		o.Split, o.Sure = true, false
	}
	return o
}

func (o *OutputKind) count(c *memoryd.Call) {
	o.Calls++
	o.First = c.Time
	switch e := &c.Evaluation; {
	case e.Good():
		o.Good++
	case e.Partial():
		o.Partial++
	case e.Bad():
		o.Failed++
	}
}

// LabelKind requests one score for all outputs of a kind.
type LabelKind struct {
	memoryd.ToolRef
	Correction

	Kind string
	// Withdraw removes the label; Preview changes nothing.
	Withdraw, Preview bool
}

// LabelledKind is the effect of a label.
type LabelledKind struct {
	// Kept calls of the kind.
	Calls int `json:"calls"`
	// Those whose score changed or would change.
	Changes  int            `json:"changes"`
	Examples []RescoredCall `json:"examples" maxItems:"20"`
}

// mostRescored is how many of the calls that a label changes are shown, the newest first.
const mostRescored = 20

// RescoredCall is a call with its scores before and after.
type RescoredCall struct {
	ID     string  `json:"id"`
	Before float64 `json:"before"`
	After  float64 `json:"after"`
	// Its beginning.
	Output string `json:"output"`
}

// labelKind gives the kept calls of a kind, and those to come, the score that a person
// says, as far as the facts of each call allow; or takes that back.
func (d *Deps) labelKind(ctx context.Context, r LabelKind) (out LabelledKind, err error) {
	id, ok := reading.ParseID(r.Kind)
	if !ok {
		return out, memoryd.Errorf(memoryd.Invalid, "kind: must be 16 hexadecimal digits")
	}
	if err := r.check(); err != nil {
		return out, err
	}
	r.Evaluation, r.By = d.Redaction.Text(ctx, r.Evaluation), cmp.Or(d.Redaction.Text(ctx, r.By), "unnamed")
	var of []memoryd.Call
	for c, err := range store.AllCalls(ctx, d.Store, r.ToolRef, false) {
		if err != nil {
			return out, err
		}
		if k := reading.KindOf(c.Input, c.Output); k.ID() == id {
			of = append(of, c)
		}
		if len(of) == kindCalls {
			break
		}
	}
	if out.Calls = len(of); out.Calls == 0 {
		return out, memoryd.Errorf(memoryd.NotFound, "the tool has no stored call of this kind")
	}
	book, err := d.relabel(ctx, r, id, &of[0])
	if err != nil {
		return out, err
	}
	for i := range of {
		if err := d.rescore(ctx, &out, &of[i], book, r.Preview); err != nil {
			return out, err
		}
	}
	if !r.Preview {
		d.Judge.Relabelled(r.ToolRef)
		d.Survey.Changed(r.ToolRef)
	}
	return out, nil
}

// relabel changes the labels of a kind and gives what is then known; of a preview it
// writes nothing.
func (d *Deps) relabel(ctx context.Context, r LabelKind, id reading.ID, newest *memoryd.Call) (*kinds.Book, error) {
	book, err := kinds.Read(ctx, d.Store, r.ToolRef)
	if err != nil {
		return nil, err
	}
	change := func(old []kinds.Label) []kinds.Label {
		old = slices.DeleteFunc(slices.Clone(old), func(l kinds.Label) bool { return l.ByPerson() })
		if r.Withdraw {
			return old
		}
		k := reading.KindOf(newest.Input, newest.Output)
		return kinds.Add(old, kinds.Label{
			IDs: k.IDs, Score: r.Score, By: memoryd.PersonPrefix + r.By, Call: newest.Key, At: d.Now(), Reason: r.Evaluation,
		})
	}
	labels := change(book.Of(id))
	if !r.Preview {
		key := store.RecordKey{ToolRef: r.ToolRef, Kind: kinds.RecordKind, ID: id.String()}
		if labels, err = kinds.Write(ctx, d.Store, key, change); err != nil {
			return nil, err
		}
	}
	book.Put(id, labels)
	return book, nil
}

// rescore gives a call the verdict that holds by what a book knows. What a person said of
// this very call stays.
func (d *Deps) rescore(ctx context.Context, out *LabelledKind, c *memoryd.Call, book *kinds.Book, preview bool) error {
	was := c.Evaluation
	if strings.HasPrefix(was.JudgedBy, memoryd.PersonPrefix) {
		return nil
	}
	e, sure := d.Judge.Under(ctx, c, book)
	byPerson := strings.HasPrefix(e.JudgedBy, memoryd.KindPrefix+memoryd.PersonPrefix)
	wasByPerson := strings.HasPrefix(was.JudgedBy, memoryd.KindPrefix+memoryd.PersonPrefix)
	switch o := was.Overruled; {
	case !byPerson && !wasByPerson:
		return nil
	case byPerson && wasByPerson:
		e.Overruled = o
	case byPerson:
		e.Overruled = overruling(&was)
	case !sure && o != nil && o.State == memoryd.Judged: // what a model had said
		e = reinstated(o, e.JudgedAt)
	}
	e.Cost = was.Cost
	if was.State != memoryd.Judged || was.Score != e.Score {
		if out.Changes++; out.Changes <= mostRescored {
			out.Examples = append(out.Examples, RescoredCall{c.Key.String(), was.Score, e.Score, textsafe.Head(c.Output, 300)})
		}
	}
	if preview {
		return nil
	}
	_, err := d.Store.Override(ctx, store.Verdict{ToolRef: c.ToolRef, Key: c.Key, Evaluation: e})
	return memoryd.Except(err, memoryd.NotFound) // the history let it go meanwhile
}
