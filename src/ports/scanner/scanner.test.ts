// Both kinds of scanner, with real programs and a real HTTP server.
import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { Secret } from '#lib/access/secret.ts'
import { createCommandScanner } from './command/command-scanner.ts'
import { oneLine, parseScanResult, type ScannedFile, type Scanner, ScannerFailure } from './scanner.ts'
import { createWebScanner } from './web/web-scanner.ts'

const folder = mkdtempSync(join(tmpdir(), 'depot-scanner-'))
after(() => rmSync(folder, { recursive: true, force: true }))
const BYTES = Buffer.from('the bytes of a file')
const file: ScannedFile = {
  path: join(folder, 'uploaded.part'),
  filename: 'größe "1".jar',
  sizeBytes: BYTES.length,
  sha1: 'a'.repeat(40),
  sha512: 'b'.repeat(128),
  fileId: 'ffffffff',
  versionId: 'vvvvvvvv',
  projectId: 'pppppppp',
}
writeFileSync(file.path, BYTES)
const ABOUT = {
  filename: 'größe "1".jar',
  size: BYTES.length,
  sha1: file.sha1,
  sha512: file.sha512,
  file_id: 'ffffffff',
  version_id: 'vvvvvvvv',
  project_id: 'pppppppp',
}

const never = new AbortController().signal
const judge = (scanner: Scanner, signal = never) => scanner.scan(file, signal)
const refuses = (scanner: Scanner, message: RegExp) =>
  assert.rejects(judge(scanner), (error) => error instanceof ScannerFailure && message.test(error.message))

/** A scanner that is a Node program with this text. */
function program(text: string, { timeoutMs = 20_000, args = [] as string[] } = {}): Scanner {
  const path = join(folder, `${Math.random().toString(36).slice(2)}.mjs`)
  writeFileSync(path, text)
  return createCommandScanner({ words: [process.execPath, path, ...args], timeoutMs })
}
const prints = (value: unknown): string => `console.log(${JSON.stringify(JSON.stringify(value))})`

describe('verdicts of a scanner', () => {
  test('is one of three verdicts, with a reason or without', () => {
    assert.deepEqual(parseScanResult('{"verdict":"pass"}'), { verdict: 'pass', reason: null })
    assert.deepEqual(parseScanResult('{"verdict":"warn","reason":null,"more":1}\n'), { verdict: 'warn', reason: null })
    const { reason } = parseScanResult(
      JSON.stringify({ verdict: 'quarantine', reason: ` A\u0000b\n\tc\ud800 ${'x'.repeat(600)}` }),
    )
    assert.equal(reason, `A b c\ufffd ${'x'.repeat(492)}…`)
    assert.equal([...(reason ?? '')].length, 500)
  })

  test('is nothing else', () => {
    for (const text of [
      '',
      'clean',
      '[]',
      'null',
      '{}',
      '{"verdict":"PASS"}',
      '{"verdict":"pass","reason":1}',
      '{"verdict":"pass"} x',
    ])
      assert.throws(() => parseScanResult(text), ScannerFailure, text)
  })

  test('is cut by whole characters', () => {
    assert.equal(oneLine('😀😀😀', 2), '😀…')
    assert.equal(oneLine('😀😀', 2), '😀😀')
  })
})

describe('a program', () => {
  test('gets the path as its last argument and the rest as JSON, nothing of our environment, and gives its verdict', async () => {
    const scanner = program(
      `import { readFileSync } from 'node:fs'
      const about = JSON.parse(readFileSync(0, 'utf8'))
      const seen = { args: process.argv.slice(2), about, bytes: readFileSync(process.argv.at(-1), 'utf8'), env: Object.keys(process.env).sort() }
      console.log(JSON.stringify({ verdict: 'warn', reason: 'odd' }))
      import('node:fs').then((fs) => fs.writeFileSync(${JSON.stringify(join(folder, 'seen.json'))}, JSON.stringify(seen)))`,
      { args: ['--deep', 'a;b'] },
    )
    assert.deepEqual(await judge(scanner), { verdict: 'warn', reason: 'odd' })
    const seen = JSON.parse(readFileSync(join(folder, 'seen.json'), 'utf8'))
    assert.deepEqual(seen.args, ['--deep', 'a;b', file.path])
    assert.deepEqual(seen.about, ABOUT)
    assert.equal(seen.bytes, BYTES.toString())
    assert.deepEqual(seen.env, ['LANG', 'PATH'])
  })

  test('that crashes, prints garbage, too much or nothing, or does not exist gives no verdict', async () => {
    await refuses(
      program(`${prints({ verdict: 'pass' })}; console.error('out of memory'); process.exitCode = 3`),
      /exited with 3: out of memory/,
    )
    await refuses(program(`process.kill(process.pid, 'SIGSEGV')`), /killed by SIGSEGV/)
    await refuses(program(`console.log('clean')`), /not JSON: clean/)
    await refuses(program(''), /not JSON/)
    await refuses(program(`setInterval(() => console.log('x'.repeat(60_000)), 1)`), /killed by SIGKILL/)
    await refuses(createCommandScanner({ words: [join(folder, 'none')], timeoutMs: 1000 }), /Could not start/)
  })

  test('that takes too long is ended with all it has started', async () => {
    const pidFile = join(folder, 'pid')
    const script = join(folder, 'hangs.sh')
    writeFileSync(script, `sleep 1000 &\necho $! > ${pidFile}\nwait\n`)
    const scanner = createCommandScanner({ words: ['/bin/sh', script], timeoutMs: 1000 })
    await refuses(scanner, /did not respond within 1000 ms/)
    const pid = Number(readFileSync(pidFile, 'utf8'))
    const isAlive = (): boolean => {
      try {
        // A killed child keeps its process ID until its parent waits for it.
        return !/^\d+ \(.*\) Z/.test(readFileSync(`/proc/${pid}/stat`, 'utf8'))
      } catch {
        return false
      }
    }
    while (isAlive()) await sleep(10)
  })

  test('is ended when the caller no longer waits', async () => {
    const aborting = new AbortController()
    const judged = judge(program('setInterval(() => {}, 1000)'), aborting.signal)
    aborting.abort()
    await assert.rejects(judged, /cancelled/)
  })
})

describe('a web service', () => {
  let answer: (req: IncomingMessage, res: ServerResponse, body: Buffer) => void = () => {}
  const server = createServer((req, res) => {
    const chunks: Buffer[] = []
    req.on('data', (chunk) => chunks.push(chunk))
    req.on('end', () => answer(req, res, Buffer.concat(chunks)))
  })
  server.listen(0, '127.0.0.1')
  after(() => {
    server.closeAllConnections()
    server.close()
  })
  const url = () => `http://127.0.0.1:${(server.address() as AddressInfo).port}/judge`
  const service = ({ timeoutMs = 20_000, token = undefined as Secret | undefined } = {}) =>
    createWebScanner({ url: url(), token, timeoutMs })

  test('gets the file with its length, its metadata and the token, and returns its verdict', async () => {
    answer = (req, res, body) => {
      const { 'x-file': about = '', 'content-length': length, authorization, 'content-type': type } = req.headers
      const seen = {
        about: JSON.parse(decodeURIComponent(String(about))),
        length,
        authorization,
        type,
        body: body.toString(),
      }
      assert.deepEqual(seen, {
        about: ABOUT,
        length: String(BYTES.length),
        authorization: 'Bearer t',
        type: 'application/octet-stream',
        body: BYTES.toString(),
      })
      res.end(JSON.stringify({ verdict: 'quarantine', reason: 'bad' }))
    }
    const judged = await judge(service({ token: new Secret('t') }))
    assert.deepEqual(judged, { verdict: 'quarantine', reason: 'bad' })
  })

  test('that fails, redirects, says garbage or too much, hangs up or cannot be reached gives no verdict', async () => {
    answer = (_req, res) => void res.writeHead(500).end('{"verdict":"pass"}')
    await refuses(service(), /status 500/)
    answer = (_req, res) => void res.writeHead(302, { location: 'http://127.0.0.1:1/' }).end()
    await refuses(service(), /Could not reach/)
    answer = (_req, res) => void res.end('<html>')
    await refuses(service(), /not JSON: <html>/)
    answer = (_req, res) => void res.end('x'.repeat(70_000))
    await refuses(service(), /larger than 65536 bytes/)
    answer = (req) => void req.socket.destroy()
    await refuses(service(), /Could not reach/)
    await refuses(
      createWebScanner({ url: 'http://127.0.0.1:1/', token: undefined, timeoutMs: 5000 }),
      /Could not reach/,
    )
  })

  test('that does not answer in time gives no verdict, also when it stops in the middle', async () => {
    answer = () => {}
    await refuses(service({ timeoutMs: 100 }), /did not respond within 100 ms/)
    answer = (_req, res) => void res.write('{"verdict":')
    await refuses(service({ timeoutMs: 100 }), /did not respond within 100 ms/)
  })
})
