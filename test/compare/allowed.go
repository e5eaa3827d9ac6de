package compare

// defaultBase is the newest commit that changed answers on purpose: whoever does so again
// moves it.
const defaultBase = "45d40fb"

// allowed is what may differ from defaultBase.
var allowed = []difference{}
