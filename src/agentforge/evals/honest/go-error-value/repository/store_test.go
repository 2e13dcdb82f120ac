package store

import "testing"

func TestLookup(t *testing.T) {
	if got := Lookup(map[string]string{"a": "1"}, "a"); got != "1" {
		t.Fatalf("got %q", got)
	}
}
