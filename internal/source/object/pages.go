package object

// Page is what a List says of its place among the pages of one reading.
type Page struct {
	Version   string // resourceVersion, the same for all pages of one reading
	Next      string // the token of the page that follows; empty for the last
	Items     int    // on this page
	Remaining int    // on the pages that follow, where the server has counted them
}
