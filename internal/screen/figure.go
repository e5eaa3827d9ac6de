package screen

// Figure is what a page draws beside the words of a Screen: a *Grid or a *Timeline. Text and
// Markdown do without.
type Figure interface{ cells() int }

// Draw adds figures.
func (s *Screen) Draw(figures ...Figure) { s.figures = append(s.figures, figures...) }

// Grid is many things of one kind as a cell each, in groups.
type Grid struct {
	Title  string
	Note   string // below the title
	Kinds  []Kind // that occur, in the order of the legend
	Groups []GridGroup
	Table  *Table // the same in words
}

// Kind is what a cell shows of its thing: a sign and words, which its color repeats.
type Kind struct {
	Sign, Words string
	Shade       Shade
}

// GridGroup is cells with something in common.
type GridGroup struct {
	Name  string // empty where there is one group
	Words string // how many are how
	Cells []GridCell
}

// GridCell is one thing: its name, of which of the Kinds it is, and all that there is to
// say of it.
type GridCell struct {
	Kind        int
	Name, Words string
}

func (g *Grid) cells() (n int) {
	for i := range g.Groups {
		n += len(g.Groups[i].Cells)
	}
	return n
}

// Shade is a color of a figure. It is a class of the style sheet.
type Shade string

const (
	Done     Shade = "done"     // it is as it should be
	Waiting  Shade = "waiting"  // it has not had its turn
	Nearly   Shade = "nearly"   // it is almost done
	Coming   Shade = "coming"   // something begins
	Going    Shade = "going"    // something ends
	Lacking  Shade = "lacking"  // something is missing
	Doubtful Shade = "doubtful" // it is not as it should be
	Broken   Shade = "broken"   // it does not go on
	Aside    Shade = "aside"    // it does not count
	One      Shade = "one"      // one of several things of the same rank
	Two      Shade = "two"
	Three    Shade = "three"
	Four     Shade = "four"
	Five     Shade = "five"
	Six      Shade = "six"
)

// Several are shades of things of the same rank, to be taken in turn.
var Several = []Shade{One, Two, Three, Four, Five, Six}

// Timeline is numbers over one time, a lane each.
type Timeline struct {
	Title    string
	Note     string
	From, To float64 // seconds
	Now      float64 // where the present is marked, if it is between them
	Ticks    []Tick
	Lanes    []Lane
	Table    *Table // the same in words
}

// Tick is a time with its name.
type Tick struct {
	At   float64
	Name string
}

// Lane is a number that changes by steps.
type Lane struct {
	Title string
	Shade Shade
	Steps []Step
	Until float64 // where the last step ends
	Top   int     // the largest number that there is room for
	Limit int     // drawn as a line, with its words; 0: none
	Words string
}

// Step is a number from a time on.
type Step struct {
	At    float64
	Value int
}

func (t *Timeline) cells() int { return 0 }
