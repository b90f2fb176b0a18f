"""The program inside a sandbox: a supervisor, a warm interpreter, and a jail for every run.

Standard library only. It shares no import with the service, only the wire contract: `wire.py`
here, `sandbox_service.schema.run` there.

    supervisor   speaks with the host, compiles, watches limits, reports       (main, supervise)
    zygote       warm interpreter behind a read-only view, forks on request   (zygote, view)
    jail         init of one run's namespaces, then the program itself        (jail, seccomp, landlock)
    harnesses    what a forked interpreter does with the program              (program, call, candidate, tester)
"""
