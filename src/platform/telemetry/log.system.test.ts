// The log of a process whose output is a pipe.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'

const LOG = join(import.meta.dirname, 'log.ts')

/** Starts a process with a buffered log, which runs the code when it gets a message. */
function logging(code: string) {
  const script = `import { createLog } from ${JSON.stringify(LOG)}
    const log = createLog({ level: 'info', buffered: true })
    process.send('ready')
    process.once('message', () => { ${code} })`
  const child = spawn(process.execPath, ['--input-type=module', '--eval', script], {
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  })
  assert.ok(child.stdout)
  return { child, output: child.stdout, exited: once(child, 'exit'), ready: once(child, 'message') }
}

test('a process whose log nobody reads any more ends, whether it exits or has nothing left to do', async () => {
  const lines = `for (let n = 0; n < 1000; n += 1) log.info('x'.repeat(100))`
  for (const [code, status] of [
    ["log.info('The only line'); process.exit(3)", 3],
    [`${lines}; process.exit(3)`, 3],
    [`${lines}; log.flush(); process.disconnect()`, 0],
  ] as const) {
    const { child, output, exited, ready } = logging(code)
    await ready
    output.destroy()
    child.send('go')
    assert.deepEqual(await exited, [status, null], code)
  }
})

test('every line reaches the reader, also those before an exit', async () => {
  for (const end of ['process.exit(0)', 'process.disconnect()']) {
    const { child, output, exited, ready } = logging(
      `for (let n = 0; n < 5000; n += 1) log.info({ n }, 'line'); ${end}`,
    )
    await ready
    child.send('go')
    const lines = (await text(output)).trim().split('\n')
    const numbers = lines.map((line) => Number(JSON.parse(line).n))
    assert.deepEqual(
      numbers.sort((a, b) => a - b),
      Array.from({ length: 5000 }, (_, n) => n),
    )
    await exited
  }
})
