package compare

// defaultBase is the newest commit that changed answers on purpose: whoever does so again
// moves it.
const defaultBase = "286f53d"

// allowed is what may differ from defaultBase.
var allowed = []difference{}
