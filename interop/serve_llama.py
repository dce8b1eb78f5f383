"""Serves a GGUF on loopback with llama.cpp's own HTTP server.

usage: serve_llama.py MODEL.gguf PORT [TEMPLATE.jinja]"""
import sys
import threading

import xllamacpp

params = xllamacpp.CommonParams()
params.model.path, params.port = sys.argv[1], int(sys.argv[2])
params.n_ctx, params.n_parallel, params.use_jinja = 8192, 1, True
if len(sys.argv) > 3:
    params.chat_template = open(sys.argv[3]).read()
# The name of this member changed between the pinned versions.
if hasattr(params, "hostnames"):
    params.hostnames = ["127.0.0.1"]
else:
    params.hostname = "127.0.0.1"
if hasattr(params, "offline"):
    params.offline = True
params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
server = xllamacpp.Server(params)
print("READY", server.listening_address, flush=True)
threading.Event().wait()
