package sqlite

import (
	"database/sql/driver"
	"time"
)

// How Go values stand in columns: an empty string, a zero time and a nil slice
// are NULL; a time is microseconds since 1970, in UTC.

func text(s string) driver.Value {
	if s == "" {
		return nil
	}
	return s
}

// raw keeps nil and empty apart.
func raw(b []byte) driver.Value {
	if b == nil {
		return nil
	}
	return string(b)
}

func micros(t time.Time) driver.Value {
	if t.IsZero() {
		return nil
	}
	return t.UnixMicro()
}

func flag(b bool) driver.Value {
	if b {
		return int64(1)
	}
	return int64(0)
}

func integer(v driver.Value) int64 {
	n, _ := v.(int64)
	return n
}

func float(v driver.Value) float64 {
	switch x := v.(type) {
	case float64:
		return x
	case int64:
		return float64(x)
	}
	return 0
}

func str(v driver.Value) string {
	s, _ := v.(string)
	return s
}

func rawOf(v driver.Value) []byte {
	if s, ok := v.(string); ok {
		return []byte(s)
	}
	return nil
}

func blob(v driver.Value) []byte {
	b, _ := v.([]byte)
	return b
}

func timeOf(v driver.Value) time.Time {
	n, ok := v.(int64)
	if !ok {
		return time.Time{}
	}
	return time.UnixMicro(n).UTC()
}
