"""The check for languages without word lists: literals are compared, and of the words only that they stand again."""
