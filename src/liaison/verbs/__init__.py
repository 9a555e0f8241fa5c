"""The verbs: each takes a mechanism, or the path of its text, through every step it needs.

A verb is one file in a sub-folder, named as the function it defines; the function is the public
name `liaison.<verb>`, and the first line of the file says what the verb does. With the decorator
`command` it is a verb of the command line as well. Files beside this one are shared by verbs.
"""
