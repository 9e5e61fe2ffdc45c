#!/usr/bin/env node
// A scanner for SCANNER_COMMAND that asks ClamAV about one file. See docs/operators/engines/scanner.md.
//
//   scan-with-clamav.mjs [--daemon] [--database FILE]... FILE
//
// --daemon asks the running clamd (clamdscan), which answers in milliseconds; without it clamscan loads its signatures
// for each file. --database takes signatures from a file or folder instead of ClamAV's own, for clamscan only.
import { execFile } from 'node:child_process'
import { parseArgs } from 'node:util'

/**
 * Findings that are not malware: potentially unwanted programs, and files that are too large or too deeply nested to
 * scan.
 */
const WARNINGS = /^(?:PUA\.|Heuristics\.Limits\.|Heuristics\.Encrypted\.)/
/** As large as a file can be, and what archives in it may unfold to. */
const FILE_LIMIT = '600M'
const SCAN_LIMIT = '1200M'

const { values, positionals } = parseArgs({
  options: { daemon: { type: 'boolean' }, database: { type: 'string', multiple: true } },
  allowPositionals: true,
})
const [file] = positionals
if (file === undefined || positionals.length !== 1) fail('exactly one file is wanted')
if (values.daemon && values.database) fail('--database is for clamscan; the daemon has its own')

const [program, args] = values.daemon
  ? // The daemon runs as another user, who may not open the file: it gets the open file instead.
    ['clamdscan', ['--fdpass', '--no-summary', '--stdout', file]]
  : [
      'clamscan',
      [
        ...(values.database ?? []).map((database) => `--database=${database}`),
        '--no-summary',
        '--stdout',
        '--alert-exceeds-max=yes',
        '--alert-encrypted=yes',
        `--max-filesize=${FILE_LIMIT}`,
        `--max-scansize=${SCAN_LIMIT}`,
        file,
      ],
    ]

execFile(program, args, { maxBuffer: 1024 * 1024 }, (error, stdout, stderr) => {
  // 0: nothing found, 1: something found, 2: an error.
  const code = error === null ? 0 : error.code
  if (code === 0) return answer('pass')
  const found = [...stdout.matchAll(/: (\S+) FOUND$/gm)].map(([, name]) => name ?? '')
  if (code !== 1 || found.length === 0) return fail(`${program} failed: ${stderr || stdout || error?.message}`)
  const verdict = found.every((name) => WARNINGS.test(name)) ? 'warn' : 'quarantine'
  answer(verdict, [...new Set(found)].join(', '))
})

function answer(verdict, reason) {
  process.stdout.write(`${JSON.stringify({ verdict, reason })}\n`)
}

/** No verdict: the server asks again later. */
function fail(message) {
  process.stderr.write(`${message}\n`)
  process.exit(2)
}
