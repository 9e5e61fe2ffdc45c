// The completion and the manual page name every command and option, and their programs accept them.
import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { COMMANDS } from '#cli/commands.ts'
import { EXIT_CODES } from '#cli/kit/exit-codes.ts'
import { commandHere } from '#test/support/processes/command-here.ts'

const folder = mkdtempSync(join(tmpdir(), 'depot-shell-'))
after(() => rmSync(folder, { recursive: true, force: true }))

async function printed(...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await commandHere(args, {})
  assert.equal(code, 0, stderr)
  return stdout
}

test('bash completes commands, words of groups and options', async () => {
  const file = join(folder, 'depot.bash')
  writeFileSync(file, await printed('completion', 'bash'))
  const complete = (...words: string[]): string[] => {
    const script = `source ${file}; COMP_WORDS=(${words.map((word) => `'${word}'`).join(' ')}); COMP_CWORD=${words.length - 1}
      compopt() { :; }; _depot; echo "\${COMPREPLY[@]}"`
    return execFileSync('bash', ['-c', script], { encoding: 'utf8' }).trim().split(' ')
  }
  assert.deepEqual(complete('depot', 'doc'), ['doctor'])
  assert.deepEqual(complete('depot', 'user', 'su'), ['suspend'])
  assert.deepEqual(complete('depot', 'user', 'list', '--s'), ['--suspended'])
  assert.deepEqual(complete('depot', 'migrate', '--d'), ['--dry-run'])
  assert.deepEqual(complete('depot', 'move', '').sort(), ['analytics', 'database', 'files'])
})

for (const shell of ['bash', 'zsh', 'fish']) {
  test(`the completion of ${shell} names every command`, async (t) => {
    const script = await printed('completion', shell)
    for (const { name } of COMMANDS) for (const word of name.split(' ')) assert.ok(script.includes(word), name)
    if (spawnSync(shell, ['--version']).error !== undefined) return t.diagnostic(`${shell} is not installed`)
    const file = join(folder, `script.${shell}`)
    writeFileSync(file, script)
    execFileSync(shell, ['-n', file])
  })
}

test('another shell is a usage error', async () => {
  const { code, stderr } = await commandHere(['completion', 'tcsh'], {})
  assert.deepEqual([code, /must be one of bash, zsh, fish/.test(stderr)], [2, true])
})

test('the manual page has every command, option and exit code, and man accepts it', async (t) => {
  const page = await printed('manual')
  const plain = page.replaceAll('\\-', '-')
  for (const { name, options = [] } of COMMANDS) {
    assert.ok(plain.includes(`.B depot ${name} `), name)
    for (const [option] of options) assert.ok(plain.includes(`.B ${option}\n`), `${name} ${option}`)
  }
  for (const [code] of EXIT_CODES) assert.ok(page.includes(`.B ${code}\n`))
  const shown = spawnSync('groff', ['-man', '-Tutf8', '-ww'], { input: page, encoding: 'utf8' })
  if (shown.error !== undefined) return t.diagnostic('groff is not installed')
  assert.equal(shown.stderr, '')
})
