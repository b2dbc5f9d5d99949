package textsafe_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"memoryd/internal/textsafe"
)

// The code points of Unicode that nobody sees: control, format, filler, selector,
// tag, private.
func TestInvisibleCodePointsAreDropped(t *testing.T) {
	ranges := [][2]rune{
		{0x01, 0x08},
		{0x0E, 0x1A},
		{0x1C, 0x1F},
		{0x7F, 0x84},
		{0x86, 0x9F},
		{0xAD, 0xAD},
		{0x34F, 0x34F},
		{0x61C, 0x61C},
		{0x115F, 0x1160},
		{0x17B4, 0x17B5},
		{0x180B, 0x180F},
		{0x200B, 0x200F},
		{0x202A, 0x202E},
		{0x2060, 0x206F},
		{0x3164, 0x3164},
		{0xFE00, 0xFE0F},
		{0xFEFF, 0xFEFF},
		{0xFFA0, 0xFFA0},
		{0xFFF0, 0xFFFB},
		{0x1BCA0, 0x1BCA3},
		{0x1D173, 0x1D17A},
		{0xE0000, 0xE0FFF},
		{0xE000, 0xE010},
		{0xFFFE, 0xFFFF},
		{0xFDD0, 0xFDEF},
		{0x10FFFE, 0x10FFFF},
		{0xF0000, 0xF0010},
	}
	for _, r := range ranges {
		for c := r[0]; c <= r[1]; c++ {
			s := "a" + string(c) + "b"
			if got := textsafe.Line(s, 10); got != "ab" {
				t.Errorf("U+%04X leaves %q", c, got)
			}
			if got := textsafe.Clean(s); got != "ab" || got == s {
				t.Errorf("U+%04X leaves %q", c, got)
			}
		}
	}
}

func TestLine(t *testing.T) {
	for _, c := range []struct {
		in    string
		limit int
		want  string
	}{
		{"  né\u00a0 日本 \t\n x ", 20, "né 日本 x"},
		{"\x1b[31mred\x1b[0m text", 20, "red text"},
		{"\x1b]0;title\x07shown", 20, "shown"},
		{"abcdef", 6, "abcdef"},
		{"abcdefg", 6, "abcde…"},
		{"abcde   ", 5, "abcde"},
		{"abcd ef", 5, "abcd…"},
		{"日本語日本語", 4, "日本語…"},
		{"a\x00b", 5, "a b"},
		{"\xff", 5, "\uFFFD"},
		{"“quoted” … text", 40, "“quoted” … text"},
		{"", 5, ""},
	} {
		if got := textsafe.Line(c.in, c.limit); got != c.want {
			t.Errorf("Line(%q, %d) = %q, want %q", c.in, c.limit, got, c.want)
		}
	}
}

func TestCleanKeepsLines(t *testing.T) {
	if got := textsafe.Clean("a\tb\r\n\u200bc\x1b[1md\xff"); got != "a\tb\r\ncd\uFFFD" {
		t.Errorf("got %q", got)
	}
}

func TestCutsFallBetweenCharacters(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, n := rapid.String().Draw(t, "s"), rapid.IntRange(-1, 40).Draw(t, "n")
		head, tail := textsafe.Head(s, n), textsafe.Tail(s, n)
		first, last := textsafe.HeadRunes(s, n), textsafe.TailRunes(s, n)
		for _, got := range []string{head, tail, first, last, textsafe.Line(s, n)} {
			if !utf8.ValidString(got) {
				t.Fatalf("%q is not UTF-8", got)
			}
		}
		if len(head) > max(n, 0) || len(tail) > max(n, 0) || !strings.HasPrefix(s, head) || !strings.HasSuffix(s, tail) {
			t.Fatalf("head %q, tail %q", head, tail)
		}
		want := []rune(s)
		if k := min(max(n, 0), len(want)); first != string(want[:k]) || last != string(want[len(want)-k:]) {
			t.Fatalf("first %q, last %q", first, last)
		}
		if utf8.RuneCountInString(textsafe.Line(s, n)) > max(n, 0) {
			t.Fatalf("Line %q", textsafe.Line(s, n))
		}
		if line := textsafe.Line(s, 100); textsafe.Line(line, 100) != line || textsafe.Clean(line) != line {
			t.Fatalf("%q is not a line", line)
		}
	})
}
