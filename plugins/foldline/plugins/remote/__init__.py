"""`foldline mcp --http`: the server for agents, behind any balancer.

`transport` reads the command line, `serving` starts and drains the server, and `app` puts the SDK's
HTTP transport behind `gate`, which decides what comes in. `signed` seals what a client hands back
to another replica, `measures` gives each request its deadline and measures it, and `health` says
whether a balancer may send requests. No request leaves anything behind that another one needs.
"""
