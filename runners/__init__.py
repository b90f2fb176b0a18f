"""The program inside a sandbox: a supervisor, a warm interpreter, and a jail for every run.

Standard library only. It shares no import with the service, only the wire contract: `wire.py`
here, `sandbox_service.schema.run` there.

    supervisor   speaks with the host, compiles, watches limits, reports    main, execute, supervise
    zygote       warm interpreter behind a read-only view, forks on demand  zygote, view, warmup
    jail         how a fork confines itself, as a list of system calls      jail, script, init
    harnesses    what a fork of the interpreter does with the program       program, call, tester …
"""
