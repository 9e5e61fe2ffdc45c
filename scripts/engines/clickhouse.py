# An HTTP front for the ClickHouse engine that the package chdb-core carries: for tests only, one query at a time.
#   python clickhouse.py PORT FOLDER [USER [PASSWORD]]
# The SQL, the storage, the formats and the errors are ClickHouse's own; what is made here is the part of its HTTP
# interface that clients use: /ping, query and settings in the address, param_NAME there or in a form, rows in the body,
# gzip both ways, the exception code header, user and password.
import gzip
import json
import re
import signal
import sys
import threading
import uuid
from email.parser import BytesParser
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

from chdb import session as chdb_session

PORT, FOLDER = int(sys.argv[1]), sys.argv[2]
USER = sys.argv[3] if len(sys.argv) > 3 else 'default'
PASSWORD = sys.argv[4] if len(sys.argv) > 4 else ''
SESSION = chdb_session.Session(FOLDER)
VERSION = str(SESSION.query('select version()', 'TSVRaw')).strip()
LOCK = threading.Lock()
# What the address may carry beside settings; those of the second line mean nothing to an engine within a process.
NO_SETTINGS = {'query', 'database', 'default_format', 'query_id', 'user', 'password', 'session_id', 'role', 'compress'}
IGNORED = {'enable_http_compression', 'wait_end_of_query', 'send_progress_in_http_headers', 'cancel_http_readonly_queries_on_client_close',
           'http_headers_progress_interval_ms', 'http_write_exception_in_output_format', 'session_timeout', 'session_check',
           'async_insert', 'wait_for_async_insert', 'buffer_size'}
STATUS = {36: 400, 38: 400, 41: 400, 42: 400, 43: 400, 46: 404, 47: 404, 53: 400, 57: 500, 60: 404, 62: 400, 81: 404, 115: 404, 159: 408,
          192: 403, 193: 403, 241: 500, 497: 403, 516: 403}


def literal(text):
    return "'" + text.replace('\\', '\\\\').replace("'", "\\'") + "'"


def run(sql, form, database, settings, params):
    with LOCK:
        SESSION.query('use ' + '`' + (database or 'default').replace('`', '') + '`')
        done = []
        try:
            for name, value in settings:
                if re.fullmatch(r'[a-z][a-z0-9_]*', name) is None:
                    raise RuntimeError(f'Code: 115. DB::Exception: Unknown setting {name}. (UNKNOWN_SETTING)')
                SESSION.query(f'set {name} = {literal(value)}')
                done.append(name)
            return SESSION.query(sql, form, params=params or None)
        finally:
            for name in done:
                SESSION.query(f'set {name} = default')


def form_fields(content_type, body):
    form = BytesParser().parsebytes(b'Content-Type: ' + content_type.encode() + b'\r\n\r\n' + body)
    return {part.get_param('name', header='content-disposition'): part.get_payload(decode=True).decode()
            for part in form.get_payload()}


class Handler(BaseHTTPRequestHandler):
    protocol_version = 'HTTP/1.1'
    disable_nagle_algorithm = True

    def do_GET(self):
        self.answer(b'')

    def do_POST(self):
        self.answer(self.body())

    def body(self):
        if self.headers.get('Transfer-Encoding', '').lower() == 'chunked':
            parts = []
            while size := int(self.rfile.readline().split(b';')[0], 16):
                parts.append(self.rfile.read(size))
                self.rfile.readline()
            self.rfile.readline()
            data = b''.join(parts)
        else:
            data = self.rfile.read(int(self.headers.get('Content-Length') or 0))
        return gzip.decompress(data) if self.headers.get('Content-Encoding') == 'gzip' else data

    def answer(self, body):
        url = urlsplit(self.path)
        if url.path in ('/ping', '/replicas_status'):
            return self.send(200, b'Ok.\n', {})
        args = {name: values[-1] for name, values in parse_qs(url.query, keep_blank_values=True).items()}
        if self.headers.get_content_type() == 'multipart/form-data':
            args.update(form_fields(self.headers['Content-Type'], body))
            body = b''
        if not self.may_enter(args):
            return self.fail(516, f'{USER}: Authentication failed: password is incorrect, or there is no user with such name.',
                             'AUTHENTICATION_FAILED')
        sql = '\n'.join(part for part in (args.get('query', ''), body.decode()) if part != '')
        if sql.strip() == '':
            return self.send(200, b'Ok.\n', {})
        form = self.headers.get('X-ClickHouse-Format') or args.get('default_format') or 'TabSeparated'
        database = args.get('database') or self.headers.get('X-ClickHouse-Database')
        params = {name[6:]: value for name, value in args.items() if name.startswith('param_')}
        settings = [(name, value) for name, value in args.items()
                    if name not in NO_SETTINGS and name not in IGNORED and not name.startswith('param_')]
        try:
            result = run(sql, form, database, settings, params)
        except Exception as error:
            text = str(error)
            code = re.search(r'Code: (\d+)', text)
            return self.send_fault(int(code.group(1)) if code else 1002, text[code.start():] if code else text)
        summary = {'read_rows': str(result.rows_read()), 'read_bytes': str(result.bytes_read()), 'written_rows': '0',
                   'written_bytes': '0', 'total_rows_to_read': '0', 'result_rows': '0', 'result_bytes': '0', 'elapsed_ns': '0'}
        self.send(200, result.bytes() or b'', {'X-ClickHouse-Query-Id': args.get('query_id') or str(uuid.uuid4()),
                                               'X-ClickHouse-Format': form, 'X-ClickHouse-Timezone': 'UTC',
                                               'X-ClickHouse-Summary': json.dumps(summary)})

    def may_enter(self, args):
        user = self.headers.get('X-ClickHouse-User') or args.get('user') or 'default'
        key = self.headers.get('X-ClickHouse-Key') or args.get('password') or ''
        given = self.headers.get('Authorization', '')
        if given.startswith('Basic '):
            import base64
            user, _, key = base64.b64decode(given[6:]).decode().partition(':')
        return (user, key) == (USER, PASSWORD)

    def fail(self, code, text, name):
        self.send_fault(code, f'Code: {code}. DB::Exception: {text} ({name})')

    def send_fault(self, code, text):
        if '(version ' not in text:
            text = f'{text} (version {VERSION})'
        self.send(STATUS.get(code, 500), (text + '\n').encode(), {'X-ClickHouse-Exception-Code': str(code)})

    def send(self, status, data, headers):
        self.send_response(status)
        if 'gzip' in self.headers.get('Accept-Encoding', '') and 'enable_http_compression=1' in self.path and data:
            data = gzip.compress(data, 1)
            self.send_header('Content-Encoding', 'gzip')
        for name, value in {'Content-Type': 'text/plain; charset=UTF-8', **headers}.items():
            self.send_header(name, value)
        self.send_header('Content-Length', str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_):
        pass

    def handle(self):
        try:
            super().handle()
        except ConnectionError:
            pass  # The client has gone, which is its right.


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 512


def main():
    server = Server(('127.0.0.1', PORT), Handler)
    signal.signal(signal.SIGTERM, lambda *_: threading.Thread(target=server.shutdown).start())
    server.serve_forever(0.1)
    with LOCK:
        SESSION.close()


main()
