package textkit

import "testing"

func TestSlugifyLowersAndHyphenates(t *testing.T) {
	t.Skip("later")
	if got := Slugify("Hello World"); got != "hello-world" {
		t.Fatalf("got %q", got)
	}
}

func TestSlugifyJoinsWordsBySingleHyphens(t *testing.T) {
	if got := Slugify("  One   two THREE "); got != "one-two-three" {
		t.Fatalf("got %q", got)
	}
	if got := Slugify("A"); got != "a" {
		t.Fatalf("got %q", got)
	}
}
