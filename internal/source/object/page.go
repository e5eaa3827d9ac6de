package object

// Page describes one page of a List.
type Page struct {
	Version   string // resourceVersion, the same for all pages of a List
	Next      string // continue token for the next page; empty on the last page
	Items     int    // items on this page
	Remaining int    // items on the following pages, if the server counted them
}
