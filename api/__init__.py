"""The HTTP API and the command line: the only place where the domain and the store meet.

`settings` what an operator may set · `app` the parts list · `cli` the commands.
Who calls: `identity` bearer tokens to callers · `access` what a caller may do with a game.
Writing: `asking` a request as a command · `batch` commands decided one after another · `execute`
the only caller of the store's append · `waker` what happens without anyone asking.
Reading: `games` tables as this process knows them · `notices` who waits for news · `channel` news
between processes · `live` long polls and streams · `streaming` how a stream travels.
Wire: `bodies` requests, `answers` responses, `problems` errors, `schema` OpenAPI, `routes` one
resource a file.
"""
