package jsonl

import "reflect"

// OpenCommand is the type of the command open.
var OpenCommand = reflect.TypeFor[openCommand]()
