// Runs the shell blocks of a document in their order, in one shell, as a reader would.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { blocksOf, isTested, TESTED_CHAPTERS } from './tested-chapters.ts'

const ROOT = join(import.meta.dirname, '../../..')
const DONE = 'the block is done:'

export type Step = { script: string; expected: string[] }

/**
 * Returns the shell blocks of a chapter, each with its expected output: the lines of the `text` blocks that follow it.
 * @param chapter heading of the second level
 */
export function readSteps(document: string, chapter: string): Step[] {
  assert.ok(isTested(document, chapter), `${document}, ${chapter}: not in tested-chapters.ts`)
  const steps: Step[] = []
  for (const { info, chapter: one, content } of blocksOf(readFileSync(join(ROOT, document), 'utf8'))) {
    if (one !== chapter) continue
    // A machine that runs other tests can need longer than a reader would wait.
    if (info === 'sh') steps.push({ script: content.replaceAll('--retry 60', '--retry 1200'), expected: [] })
    else if (info === 'text') steps.at(-1)?.expected.push(...content.trim().split('\n'))
  }
  assert.ok(steps.length > 0, `${document} has no blocks in the chapter ${chapter}`)
  return steps
}

/** Returns all shell blocks of a document. */
export function readBlocks(document: string): string[] {
  assert.equal(TESTED_CHAPTERS[document], 'all', `${document}: not in tested-chapters.ts`)
  const blocks = blocksOf(readFileSync(join(ROOT, document), 'utf8'))
  return blocks.filter(({ info }) => info === 'sh').map(({ content }) => content)
}

/** Fails unless each expected line is among the printed ones. `…` in an expected line stands for any text. */
export function checkOutput(lines: readonly string[], expected: readonly string[], name: string): void {
  for (const line of expected) {
    const parts = line.split('…').map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))
    const pattern = new RegExp(`^${parts.join('.*')}$`)
    assert.ok(
      lines.some((one) => pattern.test(one)),
      `${name} does not print ${line}:\n${lines.join('\n')}`,
    )
  }
}

/** Returns why a test that needs these programs is skipped, or false if all are installed. */
export function notInstalled(programs: readonly string[]): string | false {
  const folders = (process.env['PATH'] ?? '').split(':')
  const missing = programs.filter((program) =>
    program.startsWith('/') ? !existsSync(program) : !folders.some((folder) => existsSync(join(folder, program))),
  )
  return missing.length > 0 && `${missing.join(', ')}: not installed`
}

export type Shell = {
  /** Runs a block. @returns the lines that it printed. @throws Error with its output if a command in it fails. */
  run(script: string): Promise<string[]>
  /** Ends the shell and all processes of its group. */
  end(): Promise<void>
}

/**
 * Starts one bash for all blocks, in its own process group, so that no process outlives the test.
 * @param command command that starts the shell, for example in a separate namespace
 */
export function openShell(
  cwd: string,
  { env = {}, command = [] }: { env?: Record<string, string>; command?: readonly string[] } = {},
): Shell {
  const { TEST_DATABASE_URL: _, DATABASE_URL: __, DATA_DIR: ___, PORT: ____, ...inherited } = process.env
  const [program = 'bash', ...args] = [...command, 'bash', '-e', '-o', 'pipefail']
  const child = spawn(program, args, { cwd, env: { ...inherited, ...env }, detached: true, stdio: 'pipe' })
  const printed: string[] = []
  let block = ''
  let isDone: (code: string) => void = () => undefined
  for (const stream of [child.stdout, child.stderr]) {
    createInterface({ input: stream }).on('line', (line) => {
      if (line.startsWith(DONE)) isDone(line)
      else printed.push(line)
    })
  }
  const file = join(cwd, '..', 'block.sh')
  const ended = new Promise<never>((_resolve, reject) => {
    child.on('exit', (code) => {
      reject(new Error(`the shell ended with ${code} in this block:\n${block}\n${printed.join('\n')}`))
    })
  })
  ended.catch(() => undefined)
  return {
    async run(script) {
      printed.length = 0
      block = script
      writeFileSync(file, script)
      const finished = new Promise<string>((resolve) => {
        isDone = resolve
      })
      // Blocks must not read what comes next.
      child.stdin.write(`. '${file}' < /dev/null\necho '${DONE}'\n`)
      await Promise.race([finished, ended])
      return [...printed]
    },
    end: async () => {
      // The end of its input ends the shell, also as the first process of a namespace, which signals do not end.
      child.stdin.end()
      while (hasGroup(child.pid, 'SIGTERM')) await sleep(50)
    },
  }
}

/** Sends a signal to a group of processes. Returns false if the group has no process left. */
function hasGroup(pid: number | undefined, signal: NodeJS.Signals): boolean {
  try {
    return pid !== undefined && process.kill(-pid, signal)
  } catch {
    return false
  }
}
