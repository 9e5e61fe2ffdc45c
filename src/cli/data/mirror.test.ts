// The command `depot mirror`: its arguments, its output and its exit codes.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { commandInstance } from '#test/support/processes/command-instance.ts'
import { standInSource } from '#test/support/stand-ins/mirror-source.ts'

const instance = await commandInstance()
const source = await standInSource()
after(() => source.close())

const run = (...args: string[]) => instance.run('mirror', ...args)

test('a selection, an owner and an address are required, and wrong values are usage errors', async () => {
  const owner = ['--owner', instance.owner]
  const wrong: [string[], RegExp][] = [
    [[source.address, ...owner], /--projects, --organization, --search or --all/],
    [[source.address, '--all', '--search', 'query=x', ...owner], /not several/],
    [[source.address, '--search', 'query=x&limit=5', ...owner], /--search cannot contain limit/],
    [[source.address, '--search', 'offset=5', ...owner], /--search cannot contain offset/],
    [[source.address, '--search', 'index=newest', ...owner], /--search cannot contain index/],
    [[source.address, '--all'], /--owner is required/],
    [['--all', ...owner], /Missing arguments/],
    [['ftp://host', '--all', ...owner], /is not the address of an instance/],
    [['http://user:secret@host', '--all', ...owner], /must have no user name/],
    [[source.address, '--projects', ' , ', ...owner], /must name a project/],
    [[source.address, '--all', '--max-bytes', '-1', ...owner], /max-bytes/],
    [[source.address, '--all', '--follow', '--dry-run', ...owner], /cannot be combined/],
  ]
  for (const [args, message] of wrong) {
    const { code, stderr } = await run(...args)
    assert.equal(code, 2, stderr)
    assert.match(stderr, message)
  }
  assert.deepEqual(source.paths, [])
})

test('the last line of --json has the counts; a source that cannot be used is exit code 1', async () => {
  source.add('AABBCCDD', ['EEFFGGHH', 'EEFFGGHJ'])
  const bytes = source.files.get('EEFFGGHH.jar') ?? Buffer.alloc(0)
  source.files.set('EEFFGGHH.jar', Buffer.from(bytes).fill(0, 0, 3))
  const { code, stdout, stderr } = await run(`${source.address}/`, '--all', '--owner', instance.owner, '--json')
  assert.equal(code, 0, stderr)
  const lines = stdout.trim().split('\n')
  const { requests, ...report } = JSON.parse(lines.at(-1) ?? '')
  assert.deepEqual(report, {
    projects: 1,
    versions: 1,
    files: 1,
    skipped: 1,
    mismatches: 1,
    failed: 0,
    cursor: 'cursor-1',
  })
  assert.ok(requests > 3)
  assert.match(stderr, /Version EEFFGGHH was skipped/)
  const actions = await instance.database.db.selectFrom('audit_entry').select('action').execute()
  assert.ok(actions.some(({ action }) => action === 'mirror.run'))
  const unknown = await run(source.address, '--all', '--owner', 'nobody-has-this')
  assert.deepEqual([unknown.code, unknown.stdout], [1, ''])
  assert.match(unknown.stderr, /There is no organization nobody-has-this/)
  source.fault = (_req, res) => {
    res.writeHead(403).end('{}')
    return true
  }
  const refused = await run(source.address, '--all', '--owner', instance.owner)
  assert.equal(refused.code, 1)
  assert.match(refused.stderr, /refuses a request/)
})
