// A mirror follows a source during random writes there. Afterwards both give the same answers for all public objects.
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { after, before, test } from 'node:test'
import type { TestApp } from '#test/support/app/test-app.ts'
import { makeZip } from '#test/support/factories/archives.ts'
import type { MadeProject, Person } from '#test/support/factories/factories.ts'
import { listeningApp, type Mirroring, mirroringApp } from '#test/support/factories/mirror-factories.ts'

let source: TestApp
let mirror: Mirroring
let owner: Person
let moderator: Person
before(async () => {
  const { t, address } = await listeningApp()
  source = t
  mirror = await mirroringApp(address)
  owner = await t.make.account()
  moderator = await t.make.account({ role: 'moderator' })
})
after(async () => {
  await mirror?.t.close()
  await source?.close()
})

const WRITES = 120

/** Pseudo-random numbers: the same writes in each run. */
function randomNumbers(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}

type World = { projects: MadeProject[]; versions: { id: string; project: MadeProject }[]; count: number }

async function addVersion(world: World, project: MadeProject): Promise<void> {
  world.count += 1
  const version = await source.make.version({ project, version_number: `1.${world.count}` })
  const bytes = makeZip([
    { name: 'fabric.mod.json', data: '{}' },
    { name: 'text', data: `content ${world.count}` },
  ])
  await source.make.file({ project, version, bytes, filename: `file-${world.count}.jar` })
  world.versions.push({ id: version.id, project })
}

/** One write. Writes to objects that are deleted or hidden are refused, as for any client. */
async function write(world: World, random: (below: number) => number): Promise<void> {
  const project = world.projects[random(world.projects.length)]
  const version = world.versions[random(world.versions.length)]
  const act = random(11)
  const [mine, judge] = [source.as(owner), source.as(moderator)]
  if (project === undefined || act === 0 || world.projects.length < 4) {
    const made = await source.make.project({ owner })
    world.projects.push(made)
    await addVersion(world, made)
  } else if (act <= 2 || act === 10) {
    if ((await mine.get(`/v3/project/${project.id}`)).statusCode === 200) await addVersion(world, project)
  } else if (act === 3)
    await mine.patch(`/v3/project/${project.id}`, { summary: `A summary with the number ${random(1000)}` })
  else if (act === 4) {
    const status = ['approved', 'approved', 'archived', 'unlisted', 'private', 'approved'][random(6)]
    await judge.patch(`/v3/project/${project.id}`, { status })
  } else if (version === undefined) return
  else if (act === 5) await mine.patch(`/v3/version/${version.id}`, { changelog: `Changes ${random(1000)}` })
  else if (act === 6) {
    const status = ['listed', 'listed', 'archived', 'unlisted', 'draft'][random(5)]
    await mine.patch(`/v3/version/${version.id}`, { status })
  } else if (act === 7) await mine.delete(`/v3/version/${version.id}`)
  else if (act === 8) {
    const target = world.versions[random(world.versions.length)]
    const dependencies = [{ version_id: target?.id, dependency_type: 'required' }]
    await mine.patch(`/v3/version/${version.id}`, { dependencies })
  } else if (random(4) === 0) await mine.delete(`/v3/project/${project.id}`)
}

/** Returns the IDs of the public objects, by the change feed. */
async function publicIds(t: TestApp, kind: string): Promise<string[]> {
  const ids: string[] = []
  let since = ''
  for (let more = true; more; ) {
    const page = (await t.anyone.get(`/v3/changes?limit=1000&kinds=["${kind}"]${since}`)).json()
    for (const change of page.changes) if (change.state === 'present') ids.push(change.id)
    since = `&since=${page.next}`
    more = page.more
  }
  return ids.sort()
}

type Comparable = { files?: object[] | undefined; dependencies?: { version_id: string | null }[] | undefined }

/** An answer without what belongs to an instance: owners, addresses, counters and revisions. */
function comparable(object: Record<string, unknown>): Comparable {
  const own = ['revision', 'origin', 'team_id', 'organization', 'organization_id', 'thread_id', 'author_id', 'queued']
  const { files, requested_status: _, moderator_message: __, ...rest } = object
  const kept = Object.entries(rest).filter(([key]) => !own.includes(key) && !['downloads', 'followers'].includes(key))
  const withoutPlaces = (files as { id: string; url: string }[] | undefined)?.map(({ id: _, url: __, ...file }) => file)
  return { ...Object.fromEntries(kept), files: withoutPlaces }
}

test('a mirror has what the source has, after any order of writes', async () => {
  const random = randomNumbers(20_261_124)
  const world: World = { projects: [], versions: [], count: 0 }
  let isWriting = true
  const runs = (async () => {
    while (isWriting) await mirror.run()
  })()
  for (let n = 0; n < WRITES; n += 1) await write(world, random)
  isWriting = false
  await runs
  await mirror.run()
  const last = await mirror.run()
  assert.deepEqual([last.projects, last.versions, last.skipped], [0, 0, 0], mirror.warnings.join('\n'))

  const [projects, versions] = [await publicIds(source, 'project'), await publicIds(source, 'version')]
  assert.ok(projects.length > 3 && versions.length > 5)
  assert.deepEqual(await publicIds(mirror.t, 'project'), projects)
  assert.deepEqual(await publicIds(mirror.t, 'version'), versions)
  for (const [kind, ids] of [
    ['project', projects],
    ['version', versions],
  ] as const) {
    for (const id of ids) {
      const [there, here] = await Promise.all([source, mirror.t].map((t) => t.anyone.get(`/v3/${kind}/${id}`)))
      const original = comparable(there?.json() ?? {})
      const copy = comparable(here?.json() ?? {})
      // A dependency on a version that the source has never listed while the mirror looked cannot be copied.
      if (JSON.stringify(original.dependencies) !== JSON.stringify(copy.dependencies)) {
        const copied = new Set(
          (await mirror.t.deps.db.selectFrom('origin').select('remote_id').execute()).map(({ remote_id }) => remote_id),
        )
        assert.ok(
          original.dependencies?.some(({ version_id }) => !copied.has(version_id ?? '')),
          `${kind} ${id}`,
        )
        copy.dependencies = original.dependencies
      }
      assert.deepEqual(copy, original, `${kind} ${id}`)
    }
  }
  for (const id of versions) {
    const { files } = (await mirror.t.anyone.get(`/v3/version/${id}`)).json()
    for (const { url, hashes } of files) {
      const bytes = (await mirror.t.anyone.get(new URL(url).pathname)).rawPayload
      assert.equal(createHash('sha512').update(bytes).digest('hex'), hashes.sha512)
    }
  }
})
