"""The formalisms of mechanics, one file each."""
