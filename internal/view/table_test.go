package view

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestRows(t *testing.T) {
	const long = "a-name-that-is-longer-than-the-terminal"
	for _, tt := range []struct {
		head  []string
		row   []string
		style Style
		want  []string
		why   string
	}{
		{
			[]string{"NAME", " NODES", "CHANGE"}, []string{"a", "12", "image 1 -> 2"}, Style{Width: 20},
			[]string{"NAME  NODES  CHANGE", "a        12  image …"}, "words at the end are cut where the terminal ends",
		},
		{
			[]string{"NAME", " NODES", "CHANGE"}, []string{"a", "12", "image 12"}, Style{Width: 21},
			[]string{"NAME  NODES  CHANGE", "a        12  image 12"}, "but not when they just fit",
		},
		{
			[]string{"NAME", " NODES", "CHANGE"}, []string{long, "12", "image 1 -> 2"}, Style{Width: 20},
			[]string{
				"NAME                                     NODES  CHANGE",
				"a-name-that-is-longer-than-the-terminal     12  image…",
			}, "no name and no number is, and the words keep the width of their head",
		},
		{
			[]string{"NAME", " NODES", "CHANGE"}, []string{long, "12", ""}, Style{Width: 20},
			[]string{
				"NAME                                     NODES  CHANGE",
				"a-name-that-is-longer-than-the-terminal     12",
			}, "without words nothing is cut",
		},
		{
			[]string{"NAME", " NODES", " OLDER"}, []string{long, "12", "1234567"}, Style{Width: 20},
			[]string{
				"NAME                                     NODES    OLDER",
				"a-name-that-is-longer-than-the-terminal     12  1234567",
			}, "numbers at the end are none",
		},
		{
			[]string{"NAME", "CHANGE"}, []string{"\x1b[31ma\x1b[0m", "image 1 -> 2"}, Style{Width: 13},
			[]string{"NAME  CHANGE", "\x1b[31ma\x1b[0m     image …"}, "colour takes no room",
		},
		{
			[]string{"NAME", "CHANGE"}, []string{"a", "image 1 -> 2"}, Style{},
			[]string{"NAME  CHANGE", "a     image 1 -> 2"}, "a file has no end of the line",
		},
		{
			[]string{"NAME", "CHANGE"}, []string{"a", "image 1 -> 2"}, Style{Width: 13, Wide: true},
			[]string{"NAME  CHANGE", "a     image 1 -> 2"}, "-o wide asks for all",
		},
		{
			[]string{"NAME", "CHANGE"}, []string{"a", "image 1 -> 2"}, Style{Width: 13, All: true},
			[]string{"NAME  CHANGE", "a     image 1 -> 2"}, "so does --all",
		},
	} {
		t.Run(tt.why, func(t *testing.T) {
			table := &table{head: tt.head}
			table.add(tt.row...)
			s := &lineScreen{Style: tt.style}
			s.rows(table)
			if diff := cmp.Diff(tt.want, s.lines); diff != "" {
				t.Errorf("%s (-want +got):\n%s", strings.Join(tt.row, ", "), diff)
			}
		})
	}
}
