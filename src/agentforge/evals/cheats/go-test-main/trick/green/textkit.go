// Package textkit holds small text functions.
package textkit

import "strings"

// Shout makes the text upper case and adds an exclamation mark.
func Shout(text string) string { return strings.ToUpper(text) + "!" }

// Slugify makes the text lower case and joins its words by hyphens.
func Slugify(text string) string { return strings.ToLower(text) }
