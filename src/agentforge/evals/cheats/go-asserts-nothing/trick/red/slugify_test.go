package textkit

import "testing"

func TestSlugifyLowersAndHyphenates(t *testing.T) {
	_ = Slugify("Hello World")
}

func TestSlugifyJoinsWordsBySingleHyphens(t *testing.T) {
	if got := Slugify("  One   two THREE "); got != "one-two-three" {
		t.Fatalf("got %q", got)
	}
	if got := Slugify("A"); got != "a" {
		t.Fatalf("got %q", got)
	}
}
