#!/usr/bin/env python3
"""An MCP server with the tools judge, tune and explain, for programs that write CUDA kernels.

    sweetspot_mcp.py [FOLDER]

It speaks JSON-RPC 2.0, one message per line, on standard input and output. It reads only files below FOLDER (the
current folder). `judge` uses one `sweetspot judge --serve`, which keeps a process ready; `tune` and `explain` each run
a command. $SWEETSPOT names the program (sweetspot, on the PATH). Needs Python 3.8 and nothing else.
"""
import json
import os
import subprocess
import sys

PROTOCOL = '2025-06-18'
LINE_MOST = 1 << 20
OUTPUT_MOST = 1 << 18
TEXT = {'type': 'string'}
JOB = {'job': {'type': 'string', 'description': 'job file: problems, arguments, launch and reference of a kernel'}}

TOOLS = {
    'judge': (
        'Says whether one CUDA kernel is right, how fast it is against the libraries, and why. Trust only "right". '
        '"depth" lists the checks that were made; without sanitize and counters the answer comes sooner.',
        {**JOB,
         'implementation': {**TEXT, 'description': 'a source, cubin or PTX to judge in place of the job\'s kernel'},
         'source': {**TEXT, 'description': 'the same as text'},
         'entry': {**TEXT, 'description': 'the kernel\'s name in it'},
         'set': {'type': 'object', 'description': 'values of the job\'s parameters'},
         'sanitize': {'type': 'boolean', 'description': 'run it under compute-sanitizer (true)'},
         'counters': {'type': 'boolean', 'description': 'read hardware counters, for findings (true)'},
         'time': {'type': 'number', 'description': 'seconds for a verdict (600)'}}),
    'tune': (
        'Searches the fastest configuration of a job\'s kernel and proves it. Takes as long as "time" says. The answer '
        'has the events of the run, a JSON object a line.',
        {**JOB, 'time': {**TEXT, 'description': 'such as 90s or 10m (60s)'}}),
    'explain': (
        'Profiles the job\'s fastest configuration, or another one: counters, source lines, findings with advice.',
        {**JOB, 'trial': {**TEXT, 'description': 'a number, best, runner-up, a baseline, or NAME=value,... (best)'}}),
}


class Refused(Exception):
    """A tool cannot do what was asked. The message is for the client."""


class Judge:
    """`sweetspot judge --serve`, which is started for the first request, and again if it has ended."""

    def __init__(self, program):
        self.program = program
        self.process = None

    def ask(self, request):
        if not self.process or self.process.poll() is not None:
            self.process = subprocess.Popen([self.program, 'judge', '--serve'], stdin=subprocess.PIPE,
                                            stdout=subprocess.PIPE)
        try:
            self.process.stdin.write(json.dumps(request).encode() + b'\n')
            self.process.stdin.flush()
            line = self.process.stdout.readline()
        except OSError as why:
            raise Refused('the judge has ended: %s' % why) from why
        if not line:
            self.close()
            raise Refused('the judge has ended')
        answer = json.loads(line)
        if 'judgement' not in answer:
            raise Refused(answer.get('error', 'no verdict'))
        return json.dumps(answer['judgement'])

    def close(self):
        if self.process:
            self.process.terminate()
            self.process.wait()


def inside(path):
    """The path with links resolved, if it is a file below the current folder."""
    real, here = os.path.realpath(path), os.path.realpath('.')
    if not os.path.isfile(real) or os.path.commonpath([real, here]) != here:
        raise Refused("'%s' is not a file below '%s'" % (path, here))
    return real


def command(words):
    done = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, check=False)
    if done.returncode > 1:  # 1: it ran, but found no correct result
        raise Refused(done.stderr.decode(errors='replace')[-OUTPUT_MOST:] or 'exit status %d' % done.returncode)
    return done.stdout.decode(errors='replace')


def tune(program, job, time='60s'):
    out = command([program, 'tune', inside(job), '--time=' + time, '--quiet', '--format', 'json'])
    kept = [line for line in out.splitlines() if not line.startswith('{"event":"progress"')]
    return '\n'.join(kept)[-OUTPUT_MOST:]


def explain(program, job, trial='best'):
    return command([program, 'profile', inside(job), '--trial=' + trial, '--format', 'json'])


class Server:
    def __init__(self):
        self.program = os.environ.get('SWEETSPOT', 'sweetspot')
        self.judge = Judge(self.program)

    def call(self, name, arguments):
        """A tool's answer as text."""
        known = TOOLS[name][1]
        for key in arguments:
            if key not in known:
                raise Refused("unknown argument '%s' (known: %s)" % (key, ', '.join(known)))
            kind = {'string': str, 'object': dict, 'boolean': bool, 'number': (int, float)}[known[key]['type']]
            if not isinstance(arguments[key], kind):
                raise Refused("'%s' must be of type %s" % (key, known[key]['type']))
        if 'job' not in arguments:
            raise Refused("'job' is missing")
        if name == 'judge':
            return self.judge.ask(arguments)
        return {'tune': tune, 'explain': explain}[name](self.program, **arguments)

    def serve(self, method, params):
        """The result of a request, or None for an unknown method."""
        if method == 'initialize':
            asked = params.get('protocolVersion')
            return {'protocolVersion': asked if isinstance(asked, str) else PROTOCOL, 'capabilities': {'tools': {}},
                    'serverInfo': {'name': 'sweetspot', 'version': '1'}}
        if method == 'ping':
            return {}
        if method == 'tools/list':
            return {'tools': [{'name': name, 'description': text,
                               'inputSchema': {'type': 'object', 'properties': properties, 'required': ['job']}}
                              for name, (text, properties) in TOOLS.items()]}
        if method == 'tools/call':
            name, arguments = params.get('name'), params.get('arguments') or {}
            try:
                if name not in TOOLS or not isinstance(arguments, dict):
                    raise Refused("there is no tool '%s'" % name)
                text, failed = self.call(name, arguments), False
            except (Refused, OSError) as why:
                text, failed = str(why), True
            return {'content': [{'type': 'text', 'text': text}], 'isError': failed}
        return None

    def answer(self, line):
        """The answer to a message; None for a notification."""
        try:
            message = json.loads(line)
        except (ValueError, RecursionError) as why:
            return {'jsonrpc': '2.0', 'id': None, 'error': {'code': -32700, 'message': 'not JSON: %s' % why}}
        params = message.get('params') if isinstance(message, dict) else None
        if not isinstance(message, dict) or not isinstance(message.get('method'), str) or \
                not isinstance(params, (dict, type(None))):
            return {'jsonrpc': '2.0', 'id': None, 'error': {'code': -32600, 'message': 'not a request'}}
        if 'id' not in message:
            return None
        result = self.serve(message['method'], params or {})
        if result is None:
            return {'jsonrpc': '2.0', 'id': message['id'],
                    'error': {'code': -32601, 'message': "there is no method '%s'" % message['method']}}
        return {'jsonrpc': '2.0', 'id': message['id'], 'result': result}


def main():
    if len(sys.argv) > 1:
        os.chdir(sys.argv[1])
    server = Server()
    try:
        while True:
            line = sys.stdin.buffer.readline(LINE_MOST + 1)
            if not line or len(line) > LINE_MOST:
                break
            answer = server.answer(line) if line.strip() else None
            if answer:
                print(json.dumps(answer), flush=True)
    finally:
        server.judge.close()


if __name__ == '__main__':
    main()
