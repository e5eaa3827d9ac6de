package screen

// Figure is a drawing in a Page: a *Grid or a *Timeline. Text and Markdown omit it.
type Figure interface{ cells() int }

// Draw adds figures to the Screen.
func (s *Screen) Draw(figures ...Figure) { s.figures = append(s.figures, figures...) }

// Grid draws many things of one kind as cells in groups.
type Grid struct {
	Title  string
	Note   string // kinds that occur, in the order of the legend
	Kinds  []Kind // that occur, in the order of the legend
	Groups []GridGroup
	Table  *Table // an equivalent table
}

// Kind is a category of cells, shown by a sign and words. The color only repeats them.
type Kind struct {
	Sign, Words string
	Shade       Shade
}

// GridGroup is a group of cells.
type GridGroup struct {
	Name  string // empty if there is only one group
	Words string // a summary of the cells
	Cells []GridCell
}

// GridCell is one thing, with the index of its Kind and a description.
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

// Shade is a color of a figure, and a class in the style sheet.
type Shade string

const (
	Done     Shade = "done"     // as it should be
	Waiting  Shade = "waiting"  // not started
	Nearly   Shade = "nearly"   // almost done
	Coming   Shade = "coming"   // beginning
	Going    Shade = "going"    // ending
	Lacking  Shade = "lacking"  // something is missing
	Doubtful Shade = "doubtful" // not as it should be
	Broken   Shade = "broken"   // does not progress
	Aside    Shade = "aside"    // does not count
	One      Shade = "one"      // one of several things of equal rank
	Two      Shade = "two"
	Three    Shade = "three"
	Four     Shade = "four"
	Five     Shade = "five"
	Six      Shade = "six"
)

// Several are the shades for things of equal rank, in the order of use.
var Several = []Shade{One, Two, Three, Four, Five, Six}

// Timeline draws numbers over time, each in a Lane.
type Timeline struct {
	Title    string
	Note     string
	From, To float64 // seconds
	Now      float64 // time of the mark for the present, if within From and To
	Ticks    []Tick
	Lanes    []Lane
	Table    *Table // an equivalent table
}

// Tick is a labeled time.
type Tick struct {
	At   float64
	Name string
}

// Lane is a number that changes in steps.
type Lane struct {
	Title string
	Shade Shade
	Steps []Step
	Until float64 // end of the last step
	Top   int     // the largest number that fits
	Limit int     // drawn as a labeled line; 0: none
	Words string
}

// Step is a number that applies from a time on.
type Step struct {
	At    float64
	Value int
}

func (t *Timeline) cells() int { return 0 }
