package qdrant

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"math"
	"strconv"
	"strings"

	"memoryd"

	qd "github.com/qdrant/go-client/qdrant"
)

// ForeignPoint is a point of a collection that another program wrote.
type ForeignPoint struct {
	ID      string
	Payload []byte // a JSON object; integers have no fraction, doubles have one
}

// foreignPage is how many points one request asks for.
const foreignPage = 64

// ReadForeign reads all points of another program's collection, page by page, without changing it.
// An error ends the sequence.
func ReadForeign(ctx context.Context, cfg Config, apiKey, collection string, opts ...Option) iter.Seq2[ForeignPoint, error] {
	return func(yield func(ForeignPoint, error) bool) {
		o := options{sleep: sleepFor}
		for _, f := range opts {
			f(&o)
		}
		s := &backend{cfg: cfg, sleep: o.sleep}
		s.cluster.Store(&cluster{copies: 1})
		var err error
		if s.client, err = dial(cfg, apiKey, &o); err != nil {
			yield(ForeignPoint{}, err)
			return
		}
		defer func() { _ = s.client.Close() }()
		if err := s.foreign(ctx, collection, yield); err != nil {
			yield(ForeignPoint{}, err)
		}
	}
}

// page is a part of a collection and where the next one begins.
type page struct {
	points []*qd.RetrievedPoint
	next   *qd.PointId
}

func (s *backend) foreign(ctx context.Context, collection string, yield func(ForeignPoint, error) bool) error {
	var from *qd.PointId
	for {
		p, err := ask(ctx, s, "scroll", func(ctx context.Context) (p page, err error) {
			p.points, p.next, err = s.client.ScrollAndOffset(ctx, &qd.ScrollPoints{
				CollectionName: collection, Offset: from, Limit: new(uint32(foreignPage)),
				WithPayload: qd.NewWithPayload(true), WithVectors: qd.NewWithVectors(false),
			})
			return p, err
		})
		if err != nil {
			return err
		}
		for _, point := range p.points {
			fields, err := plainStruct(point.GetPayload())
			var text []byte
			if err == nil {
				text, err = json.Marshal(fields)
			}
			if err != nil {
				return memoryd.Errorf(memoryd.Invalid, "point %s: %s", foreignID(point.GetId()), err)
			}
			if !yield(ForeignPoint{ID: foreignID(point.GetId()), Payload: text}, nil) {
				return nil
			}
		}
		if p.next == nil {
			return nil
		}
		from = p.next
	}
}

func foreignID(id *qd.PointId) string {
	if u := id.GetUuid(); u != "" {
		return u
	}
	return strconv.FormatUint(id.GetNum(), 10)
}

// plain gives a payload's value as encoding/json writes it: an integer without a
// fraction, a double with one.
func plain(v *qd.Value) (any, error) {
	switch k := v.GetKind().(type) {
	case nil, *qd.Value_NullValue:
		return nil, nil //nolint:nilnil // null
	case *qd.Value_BoolValue:
		return k.BoolValue, nil
	case *qd.Value_IntegerValue:
		return k.IntegerValue, nil
	case *qd.Value_StringValue:
		return k.StringValue, nil
	case *qd.Value_DoubleValue:
		text := strconv.FormatFloat(k.DoubleValue, 'g', -1, 64)
		if math.IsNaN(k.DoubleValue) || math.IsInf(k.DoubleValue, 0) {
			return nil, fmt.Errorf("a number that JSON cannot express")
		}
		if !strings.ContainsAny(text, ".e") {
			text += ".0"
		}
		return json.Number(text), nil
	case *qd.Value_StructValue:
		return plainStruct(k.StructValue.GetFields())
	case *qd.Value_ListValue:
		list := make([]any, len(k.ListValue.GetValues()))
		for i, e := range k.ListValue.GetValues() {
			var err error
			if list[i], err = plain(e); err != nil {
				return nil, err
			}
		}
		return list, nil
	}
	return nil, fmt.Errorf("a value of unknown type %T", v.GetKind())
}

func plainStruct(fields map[string]*qd.Value) (map[string]any, error) {
	out := make(map[string]any, len(fields))
	for name, v := range fields {
		var err error
		if out[name], err = plain(v); err != nil {
			return nil, err
		}
	}
	return out, nil
}
