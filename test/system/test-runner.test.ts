// The test runner: a signal ends a run with every process that it started.
import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'

const ROOT = join(import.meta.dirname, '../..')

type Entry = { pid: number; parent: number; command: string }

function listProcesses(): Entry[] {
  const text = execFileSync('ps', ['-A', '-ww', '-o', 'pid=,ppid=,command='], { encoding: 'utf8' })
  return [...text.matchAll(/^\s*(\d+)\s+(\d+)\s+(.*)$/gm)].map(([, pid, parent, command = '']) => ({
    pid: Number(pid),
    parent: Number(parent),
    command,
  }))
}

/** Returns the process IDs of all descendants. */
function descendantsOf(pid: number): Entry[] {
  const all = listProcesses()
  const children = (parent: number): Entry[] =>
    all.filter((entry) => entry.parent === parent).flatMap((entry) => [entry, ...children(entry.pid)])
  return children(pid)
}

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  test(`${signal} ends a run of the system tests, and leaves no process`, async () => {
    const { TEST_DATABASE_URL: _, TEST_QUEUE: __, NODE_TEST_CONTEXT: ___, ...env } = process.env
    // Starts servers with an embedded database, which runs in a separate session.
    const run = spawn(process.execPath, ['scripts/test.mjs', 'test/system/lifecycle.test.ts'], {
      cwd: ROOT,
      env,
      stdio: 'ignore',
    })
    const ended = once(run, 'exit')
    const isServer = ({ command }: Entry): boolean => command.includes('depot.mjs serve')
    const isDatabase = ({ command }: Entry): boolean => command.includes('postgres -D')
    let started: Entry[] = []
    while (!started.some(isServer) || started.filter(isDatabase).length < 2) {
      assert.equal(run.exitCode, null)
      started = descendantsOf(run.pid ?? 0)
      await sleep(200)
    }
    run.kill(signal)
    const [code] = await ended
    assert.equal(code, 130)
    const left = (): string[] => {
      const now = new Map(listProcesses().map((entry) => [entry.pid, entry]))
      return started.filter(({ pid, command }) => now.get(pid)?.command === command).map(({ command }) => command)
    }
    // A server that received the signal stops its database before it ends.
    for (let i = 0; i < 1_500 && left().length > 0; i += 1) await sleep(200)
    assert.deepEqual(left(), [])
  })
}
