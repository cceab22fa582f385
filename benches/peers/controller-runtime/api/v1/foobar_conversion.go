package v1

// Hub marks v1 as the version that others are converted to and from.
func (*FooBar) Hub() {}
