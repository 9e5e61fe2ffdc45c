// The image, without a container engine: the steps of the Dockerfile make a root file system on a small Debian, and its command
// runs there as the image's user, without privileges and on a root file system that is read-only.
import assert from 'node:assert/strict'
import { cpSync, mkdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { after, test } from 'node:test'
import { openShell } from '#test/support/processes/documented-steps.ts'
import { enterDebian, makeDebian, noDebian, STOP, USER_OF_SERVER } from './debian-root.ts'
import {
  checkStory,
  emptyFolder,
  NPM_SETTINGS,
  noRelease,
  READY,
  RELEASE,
  runStory,
  sizeOf,
  upgradeRecorded,
  VERSION,
} from './release.ts'

/** The image without the 75 MB of Debian's slim image. */
const SIZE_MB_MAX = 450 - 75

const [build = '', image = ''] = readFileSync(join(import.meta.dirname, '../../Dockerfile'), 'utf8')
  .replaceAll(/\\\n/g, '')
  .split(/^FROM debian.*$/m)
const valuesOf = (stage: string, keyword: string): string[] =>
  [...stage.matchAll(new RegExp(`^${keyword} (.*)$`, 'gm'))].map(([, value = '']) => value)
const quote = (words: readonly string[]): string => words.map((word) => `'${word.replaceAll("'", `'\\''`)}'`).join(' ')
const user = valuesOf(image, 'USER')[0] ?? ''
const command: string[] = JSON.parse(valuesOf(image, 'CMD')[0] ?? '[]')
const health: string[] = JSON.parse(valuesOf(image, 'HEALTHCHECK .* CMD')[0] ?? '[]')

/** Does what the first stage does, in a folder that stands for `/` of that stage. */
async function buildStage(folder: string): Promise<void> {
  const cwd = join(folder, valuesOf(build, 'WORKDIR')[0] ?? '')
  mkdirSync(cwd, { recursive: true })
  mkdirSync(join(folder, 'tmp'))
  cpSync(join(RELEASE, `depot-hosting-${VERSION}.tgz`), join(folder, 'tmp/depot.tgz'))
  const path = (process.env['PATH'] ?? '').split(':').filter((one) => !one.includes('node_modules'))
  // The Node.js of the stage is newer than that of this machine.
  const shell = openShell(cwd, { env: { PATH: [dirname(process.execPath), ...path].join(':'), ...NPM_SETTINGS } })
  try {
    for (const line of valuesOf(build, 'RUN')) await shell.run(`(${line.replaceAll('/tmp/', `${folder}/tmp/`)})`)
  } finally {
    await shell.end()
  }
}

test('the image runs the story and upgrades recorded data, without privileges and on a read-only file system', {
  skip: noRelease || noDebian(),
}, async (t) => {
  const { folder, remove } = emptyFolder()
  const stage = join(folder, 'stage')
  mkdirSync(stage)
  await buildStage(stage)
  const size = sizeOf(join(stage, 'opt'))
  assert.ok(size <= SIZE_MB_MAX, `${size} MB`)
  const root = join(folder, 'root')
  makeDebian(root)
  cpSync(join(stage, 'opt'), join(root, 'opt'), { recursive: true, verbatimSymlinks: true })
  const settings = valuesOf(image, 'ENV').flatMap((line) => line.split(' '))
  const as = `env -i ${quote(settings)} setpriv --reuid=${user} --regid=${user} --clear-groups --no-new-privs --bounding-set=-all`
  const { inside, outside, end } = await enterDebian(folder, root, { cwd: '/data', as })
  after(async () => {
    await end()
    remove()
  })
  await outside(
    valuesOf(image, 'RUN')
      .map((line) => `chroot ${root} sh -ec ${quote([line])}`)
      .join('\n'),
  )
  // The volume, and what --read-only does.
  const volume = join(folder, 'volume')
  mkdirSync(volume)
  await outside(`chown ${user} ${volume}; mount --bind ${volume} ${root}/data; mount -o remount,bind,ro ${root}`)
  const start = `${quote(command)} > /tmp/depot.log 2>&1 &\n${READY.replace('depot.log', '/tmp/depot.log')}`

  await t.test('the story, the health check, and a restart', async () => {
    await inside('mkdir data; cp -r /opt/depot/lib/node_modules/depot-hosting/examples .')
    assert.deepEqual(await inside(`${quote(health)} && echo healthy || echo ill`), ['ill'])
    await inside(start)
    assert.deepEqual(await inside(`${quote(health)} && echo healthy || echo ill`), ['healthy'])
    await runStory(inside)
    await inside(`${STOP}\n${start}`)
    await checkStory(inside)
    const lines = await inside(`touch /opt/written 2>&1 || true; ${USER_OF_SERVER}`)
    assert.match(lines.join('\n'), /Read-only file system\ndepot$/)
    await inside(STOP)
  })

  await t.test('an upgrade of a recorded data folder', async () => {
    const serve = async (recorded: string): Promise<void> => {
      await outside(`rm -rf ${volume}/*; cp -a ${recorded}/. ${volume}/; chown -R ${user} ${volume}`)
      await inside(start)
    }
    await upgradeRecorded(inside, serve, STOP)
  })
})
