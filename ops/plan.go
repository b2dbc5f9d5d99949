package ops

import (
	"context"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"
)

// definition describes an op: its name, its input and output types, its settings and its
// constructor.
type definition struct {
	name    string
	in, out reflect.Type
	// params makes its settings, to be decoded into; model says that its entry
	// may name a model.
	params func() any
	model  bool
	build  func(d Deps, params any) op[any, any]
}

// definitions are the ops that flows are composed of, by name.
func definitions() map[string]definition {
	all := map[string]definition{}
	for _, d := range []definition{
		define("validate_tool_call_result_op", func(d Deps, limits Limits) op[RecordRequest, *validCalls] {
			return (&ValidateToolCallResult{d, limits}).Run
		}),
		define("parse_tool_call_result_op", func(d Deps, params ParseParams) op[*validCalls, *Recorded] {
			return (&ParseToolCallResult{d, params, newSourceLimits(d.Store, d.Keyed), &sync.Mutex{}}).Run
		}).withModel(),
		define("load_tool_memory_op", func(d Deps, _ struct{}) op[NamesRequest, *loadedTools] { return d.loadTools }),
		define("summary_tool_memory_op", func(d Deps, params SummaryParams) op[namedTools, *Summaries] {
			return (&SummaryToolMemory{d, params}).Run
		}).withModel(),
		define("retrieve_tool_memory_op", func(d Deps, _ struct{}) op[namedTools, *Retrieved] { return d.retrieve }),
		define("preflight_tool_call_op", func(d Deps, _ PreflightParams) op[PreflightRequest, *Forecast] { return d.preflight }),
		define("compact_conversation_op", func(d Deps, _ CompactParams) op[CompactRequest, *Compacted] { return d.compact }).withModel(),
		define("vector_store_op", func(d Deps, _ VectorStoreParams) op[ManageRequest, *Managed] { return d.vectorStore }),
		define("receive_hook_op", func(d Deps, params HookParams) op[HookRequest, *HookAnswer] {
			return newHooks(d, params).run
		}),
	} {
		all[d.name] = d
	}
	return all
}

// op is an op with its types; untyped makes a step of it.
type op[In, Out any] = func(ctx context.Context, in In) (Out, error)

// define describes an op with settings P; where P has a method Validate, it is asked. build makes
// the op and changes nothing else.
func define[P, In, Out any](name string, build func(d Deps, params P) op[In, Out]) definition {
	return definition{
		name: name, in: reflect.TypeFor[In](), out: reflect.TypeFor[Out](),
		params: func() any { return new(P) },
		build: func(d Deps, params any) op[any, any] {
			return untyped(byAnyName(&d, audited(&d, build(d, *params.(*P))))) //nolint:forcetypeassert // made by params above
		},
	}
}

// withModel lets the op's entry name a model.
func (d definition) withModel() definition {
	d.model = true
	return d
}

// Spec is one entry of the op section.
type Spec struct {
	// Backend is the name of the op.
	Backend string
	// LLM is the name of the model that the op uses; "" means none.
	LLM string
	// Params decodes the settings of the entry strictly: an unknown key or a wrong type is an error
	// that begins with the key. nil means no settings.
	Params func(into any) error
}

// Problem is an error in the op or flow section.
type Problem struct {
	// Keys are the settings that may have caused it, the likeliest first.
	Keys []string
	Msg  string
}

// Plan is a checked op and flow section: it can be built and serves every endpoint.
type Plan struct {
	flows   map[string][]*entry
	entries map[string]*entry // used ones, by the name of their op
}

// entry is an entry of the op section with its settings decoded.
type entry struct {
	name   string
	def    definition
	llm    string
	params any
}

// NewPlan checks flows, which are lists of entries by endpoint. A name without an entry is an op
// without settings. Each op must take what the one before it returns, the first one the request,
// and the last one must return the answer of the endpoint. Each op has one entry, and some flow
// uses it.
func NewPlan(flows map[string][]string, specs map[string]Spec) (*Plan, []Problem) {
	c := checker{
		plan: &Plan{flows: map[string][]*entry{}, entries: map[string]*entry{}},
		defs: definitions(), known: map[string]*entry{},
	}
	for name, def := range c.defs {
		c.known[name] = &entry{name: name, def: def, params: def.params()}
	}
	for _, name := range slices.Sorted(maps.Keys(specs)) {
		c.entry(name, specs[name])
	}
	endpoints := (&Flows{}).endpoints()
	for _, name := range slices.Sorted(maps.Keys(flows)) {
		if _, ok := endpoints[name]; !ok {
			c.fault("there is no such endpoint; known endpoints: "+listed(endpoints), "flow."+name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(endpoints)) {
		chain, ok := flows[name]
		if !ok {
			chain = []string{name + "_op"}
		}
		c.flow(name, endpoints[name], chain)
	}
	for _, name := range slices.Sorted(maps.Keys(c.known)) {
		if e := c.known[name]; e != nil && e.name != e.def.name && c.plan.entries[e.def.name] != e {
			c.fault("no flow uses this entry", "op."+name)
		}
	}
	return c.plan, c.problems
}

type checker struct {
	plan     *Plan
	defs     map[string]definition
	known    map[string]*entry // nil: it has a fault of its own
	problems []Problem
}

func (c *checker) fault(msg string, keys ...string) {
	c.problems = append(c.problems, Problem{Keys: keys, Msg: msg})
}

// entry decodes one entry of the op section.
func (c *checker) entry(name string, spec Spec) {
	key := "op." + name
	def, ok := c.defs[spec.Backend]
	if !ok {
		c.known[name] = nil
		c.fault(fmt.Sprintf("there is no op %q; known ops: %s", spec.Backend, listed(c.defs)), key+".backend")
		return
	}
	if spec.LLM != "" && !def.model {
		c.fault(def.name+" uses no model", key+".llm")
	}
	e := &entry{name: name, def: def, llm: spec.LLM, params: def.params()}
	c.known[name] = e
	var err error
	if spec.Params != nil {
		err = spec.Params(e.params)
	}
	if v, ok := e.params.(interface{ Validate() error }); ok && err == nil {
		err = v.Validate()
	}
	if err == nil {
		return
	}
	param, msg, named := strings.Cut(err.Error(), ": ")
	if !named || strings.ContainsAny(param, " \t") {
		param, msg = "", err.Error()
	}
	c.fault(msg, strings.TrimSuffix(key+".params."+param, "."))
}

// flow checks the chain of one endpoint, link by link.
func (c *checker) flow(name string, e endpoint, chain []string) {
	key := "flow." + name
	if len(chain) == 0 {
		c.fault("it lists no op", key)
		return
	}
	in, out := e.types()
	given, before := in, "the request"
	for i, link := range chain {
		at := fmt.Sprintf("%s.%d", key, i)
		step := c.use(link, at)
		if step == nil {
			return
		}
		if !given.AssignableTo(step.def.in) {
			c.fault(fmt.Sprintf("%s cannot follow %s", link, before), at, "op."+link+".backend")
			return
		}
		given, before = step.def.out, link
		c.plan.flows[name] = append(c.plan.flows[name], step)
	}
	if given != out {
		c.fault(before+" cannot be the last op of this endpoint", fmt.Sprintf("%s.%d", key, len(chain)-1), "op."+before+".backend")
	}
}

// use finds the entry that a flow names.
func (c *checker) use(link, at string) *entry {
	e, ok := c.known[link]
	if e == nil {
		if !ok { // else that is told already
			c.fault(fmt.Sprintf("there is no op %q, and the op section has no such entry", link), at)
		}
		return nil
	}
	if other := c.plan.entries[e.def.name]; other != nil && other != e {
		c.fault(fmt.Sprintf("the op %s is already used by the entry %s", e.def.name, other.name), at, "op."+link+".backend", "op."+other.name)
		return nil
	}
	c.plan.entries[e.def.name] = e
	return e
}

func listed[V any](m map[string]V) string {
	return strings.Join(slices.Sorted(maps.Keys(m)), ", ")
}

// endpoints are the fields of f by the names of their flows.
func (f *Flows) endpoints() map[string]endpoint {
	all := map[string]endpoint{}
	v := reflect.ValueOf(f).Elem()
	for i := range v.NumField() {
		if name, composed := v.Type().Field(i).Tag.Lookup("flow"); composed {
			all[name] = v.Field(i).Addr().Interface().(endpoint) //nolint:forcetypeassert // every field is a Flow
		}
	}
	return all
}

// Settings returns the settings of type P and the model name of the op that has such settings; ""
// means no model.
func Settings[P any](p *Plan) (llm string, params P) {
	for _, e := range p.entries {
		if own, ok := e.params.(*P); ok {
			return e.llm, *own
		}
	}
	return "", params
}

// Change changes the settings of type P.
func Change[P any](p *Plan, change func(*P)) {
	for _, e := range p.entries {
		if own, ok := e.params.(*P); ok {
			change(own)
		}
	}
}

// Build creates the ops of the plan and chains them. tracer may be nil.
func (p *Plan) Build(d Deps, tracer Tracer) *Flows {
	built := map[*entry]step{}
	flows := &Flows{}
	d.flows = flows
	for name, e := range flows.endpoints() {
		var steps []step
		for _, en := range p.flows[name] {
			if _, ok := built[en]; !ok {
				built[en] = step{en.name, en.def.build(d, en.params)}
			}
			steps = append(steps, built[en])
		}
		e.assemble(name, steps, tracer)
	}
	flows.functions(&d, tracer)
	return flows
}

// functions makes the flows that nobody composes.
func (f *Flows) functions(d *Deps, tracer Tracer) {
	f.Snapshot = alone(d, tracer, "snapshot", d.snapshot)
	f.ListWorkspaces = alone(d, tracer, "list_workspaces", d.listWorkspaces)
	f.ListTools = alone(d, tracer, "list_tools", d.listTools)
	f.ListCalls = alone(d, tracer, "list_calls", d.listCalls)
	f.GetCall = alone(d, tracer, "get_call", d.getCall)
	f.CorrectCall = alone(d, tracer, "correct_call", d.correct)
	f.WithdrawCorrection = alone(d, tracer, "withdraw_correction", d.withdraw)
	f.ListCorrections = alone(d, tracer, "list_corrections", d.listCorrections)
	f.ListKinds = alone(d, tracer, "list_kinds", d.listKinds)
	f.LabelKind = alone(d, tracer, "label_kind", d.labelKind)
	f.ListRevisions = alone(d, tracer, "list_revisions", d.listRevisions)
	f.GetRevision = alone(d, tracer, "get_revision", d.getRevision)
	f.DiffRevisions = alone(d, tracer, "diff_revisions", d.diffRevisions)
	f.ListPending = alone(d, tracer, "list_pending", d.listPending)
	f.Decide = alone(d, tracer, "decide", d.decide)
	f.ListLineOutcomes = alone(d, tracer, "list_line_outcomes", d.listLineOutcomes)
	f.GetOriginal = alone(d, tracer, "get_original", d.Compactor.Original)
	f.ReadOriginal = alone(d, tracer, "read_original", d.Compactor.Read)
	f.SearchOriginals = alone(d, tracer, "search_originals", d.Compactor.Search)
	f.UndoCompaction = alone(d, tracer, "undo_compaction", d.Compactor.Undo)
	f.ReportUsage = alone(d, tracer, "report_usage", d.reportUsage)
	f.GetOverview = alone(d, tracer, "get_overview", d.getOverview)
	f.RankTools = alone(d, tracer, "rank_tools", d.rankTools)
	f.FindCalls = alone(d, tracer, "find_calls", d.findCalls)
	f.ListRun = alone(d, tracer, "list_run", d.listRun)
	f.ListRuns = alone(d, tracer, "list_runs", d.listRuns)
	f.ListSources = alone(d, tracer, "list_sources", d.listSources)
	f.ReceiveTelemetry = alone(d, tracer, "receive_telemetry", d.receiveTelemetry)
}

// alone is a flow of one function.
func alone[In, Out any](d *Deps, tracer Tracer, name string, run op[In, Out]) Flow[In, Out] {
	return Flow[In, Out]{name: name, steps: []step{{name + "_op", untyped(byAnyName(d, audited(d, run)))}}, tracer: tracer}
}
