package store

import (
	"errors"
	"testing"
)

func TestLookup(t *testing.T) {
	values := map[string]string{"a": "1"}
	if got, err := Lookup(values, "a"); got != "1" || err != nil {
		t.Fatalf("got %q, %v", got, err)
	}
	if _, err := Lookup(values, "b"); !errors.Is(err, ErrMissing) {
		t.Fatalf("got %v", err)
	}
}
