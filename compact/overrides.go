package compact

import (
	"reflect"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"memoryd"
)

// JoinOverrides adds to a request's overrides those further members of the
// request whose names are settings of its profile. What stands in overrides
// wins; any other member is ignored, as unknown members are everywhere.
func JoinOverrides(profile string, overrides, members jsontext.Value) (jsontext.Value, error) {
	if len(members) == 0 {
		return overrides, nil
	}
	own, all := map[string]jsontext.Value{}, map[string]jsontext.Value{}
	if err := json.Unmarshal(members, &all, jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)); err != nil {
		return nil, memoryd.Wrap(memoryd.Invalid, err, "the request's settings cannot be read")
	}
	if len(overrides) > 0 && overrides.Kind() != 'n' {
		if err := json.Unmarshal(overrides, &own); err != nil {
			return nil, memoryd.Errorf(memoryd.Invalid, "must be an object")
		}
	}
	names := settingNames(profile)
	joined := false
	for name, value := range all {
		if _, given := own[name]; !given && names[name] {
			own[name], joined = value, true
		}
	}
	if !joined {
		return overrides, nil
	}
	return json.Marshal(own, json.Deterministic(true))
}

// settingNames gives the settings of a profile; those of "default" for a name
// that is unknown or empty.
func settingNames(profile string) map[string]bool {
	settings := map[string]any{"deerflow": DeerFlowSettings{}, "forge": ForgeSettings{}, "ra_aid": RAAidSettings{}}[profile]
	if settings == nil {
		settings = DefaultSettings{}
	}
	names := map[string]bool{}
	for _, f := range reflect.VisibleFields(reflect.TypeOf(settings)) {
		if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); name != "" {
			names[name] = true
		}
	}
	return names
}
