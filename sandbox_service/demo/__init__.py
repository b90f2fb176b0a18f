"""The service shown at work: started, sent real submissions over HTTP, stopped.

Speaks to the service as any client does; asks `sandbox` only whether images are built.
"""
