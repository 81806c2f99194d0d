"""The life around a game, with no card in it: seats, tokens, hands one after another, the end.

`commands` what is asked of a table · `events` what happened to it · `state` what is remembered ·
`decide` the outermost decider, which plays actions on to the game · `views` what a viewer is shown.
"""
