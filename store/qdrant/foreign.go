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
	Payload []byte // a JSON object; integers stand without a fraction, doubles with one
}

// foreignPage is how many points one request asks for.
const foreignPage = 64

// ReadForeign reads all points of a collection of another program, page by page,
// and changes nothing. An error ends the sequence.
func ReadForeign(ctx context.Context, cfg Config, apiKey, collection string, opts ...Option) iter.Seq2[ForeignPoint, error] {
	return func(yield func(ForeignPoint, error) bool) {
		o := options{sleep: sleepFor}
		for _, f := range opts {
			f(&o)
		}
		s := &backend{cfg: cfg, sleep: o.sleep}
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
				CollectionName: collection, Offset: from, Limit: qd.PtrOf(uint32(foreignPage)),
				WithPayload: qd.NewWithPayload(true), WithVectors: qd.NewWithVectors(false),
			})
			return p, err
		})
		if err != nil {
			return err
		}
		for _, point := range p.points {
			text, err := appendStruct(nil, point.GetPayload())
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

// appendStruct writes a payload as a JSON object.
func appendStruct(out []byte, fields map[string]*qd.Value) (_ []byte, err error) {
	out = append(out, '{')
	first := true
	for name, v := range fields {
		if !first {
			out = append(out, ',')
		}
		first = false
		key, err := json.Marshal(name)
		if err != nil {
			return nil, err
		}
		out = append(append(out, key...), ':')
		if out, err = appendForeign(out, v); err != nil {
			return nil, err
		}
	}
	return append(out, '}'), nil
}

func appendForeign(out []byte, v *qd.Value) (_ []byte, err error) {
	switch k := v.GetKind().(type) {
	case nil, *qd.Value_NullValue:
		return append(out, "null"...), nil
	case *qd.Value_BoolValue:
		return strconv.AppendBool(out, k.BoolValue), nil
	case *qd.Value_IntegerValue:
		return strconv.AppendInt(out, k.IntegerValue, 10), nil
	case *qd.Value_DoubleValue:
		return appendDouble(out, k.DoubleValue)
	case *qd.Value_StringValue:
		text, err := json.Marshal(k.StringValue)
		return append(out, text...), err
	case *qd.Value_StructValue:
		return appendStruct(out, k.StructValue.GetFields())
	case *qd.Value_ListValue:
		out = append(out, '[')
		for i, e := range k.ListValue.GetValues() {
			if i > 0 {
				out = append(out, ',')
			}
			if out, err = appendForeign(out, e); err != nil {
				return nil, err
			}
		}
		return append(out, ']'), nil
	}
	return nil, fmt.Errorf("a value of an unknown kind %T", v.GetKind())
}

// appendDouble writes a double so that it cannot be taken for an integer.
func appendDouble(out []byte, f float64) ([]byte, error) {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return nil, fmt.Errorf("a number that JSON cannot say")
	}
	text := strconv.FormatFloat(f, 'g', -1, 64)
	if !strings.ContainsAny(text, ".e") {
		text += ".0"
	}
	return append(out, text...), nil
}
