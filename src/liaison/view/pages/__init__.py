"""The moving picture as data and as a page: what a front end draws, and the file around it."""
