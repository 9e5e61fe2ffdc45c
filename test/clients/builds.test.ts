// Maven and Gradle resolve files of a running Depot.
import assert from 'node:assert/strict'
import { readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { type ServedApp, servedApp } from '#test/support/app/served-app.ts'
import { form, modJar, versionData } from '#test/support/http/forms.ts'
import { type ClientProgram, openClient, runClient } from '#test/support/processes/client-programs.ts'

/** The project is read anew in each run, while plugins remain installed. */
const REPOSITORY = '-Dmaven.repo.local=repository'
/** For programs that end after seconds: less compilation and fewer threads. */
const BRIEF = { JAVA_TOOL_OPTIONS: '-XX:TieredStopAtLevel=1 -XX:+UseSerialGC' }
const COPY = 'org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies'

type Build = Pick<ClientProgram, 'name' | 'needs' | 'install'> & {
  /** Arguments that copy the files of a version of the project to the folder `files`. */
  copy: (url: string, version: string) => ClientProgram['program']
  /** The folders with files of earlier runs. */
  stale: string[]
  /** Checksums that it compares: ends of the paths of files, with their statuses. */
  checksums: string[]
}

const BUILDS: Build[] = [
  {
    name: 'maven',
    needs: ['mvn'],
    install: [{ file: 'mvn', args: ['-q', '-B', REPOSITORY, COPY] }],
    copy: (url, version) => ({
      file: 'mvn',
      args: [
        ...['-B', '--strict-checksums', REPOSITORY, `-Ddepot.url=${url}`, `-Ddepot.version=${version}`],
        ...[COPY, '-DoutputDirectory=files'],
      ],
    }),
    stale: ['files', 'repository/maven'],
    checksums: ['.pom.sha1 200', '.jar.sha1 200', '-sources.jar.sha1 200'],
  },
  {
    name: 'gradle-build',
    needs: ['gradle'],
    install: [],
    copy: (url, version) => ({
      file: 'gradle',
      args: ['--no-daemon', '-q', '-g', 'home', `-PdepotUrl=${url}`, `-PdepotVersion=${version}`, 'copyFiles'],
    }),
    stale: ['files', 'home/caches/modules-2'],
    checksums: [],
  },
]

let served: ServedApp
const jars = new Map<string, Buffer>()
before(async () => {
  served = await servedApp()
  const { t } = served
  const owner = await t.make.account()
  const project = await t.make.project({ owner, slug: 'lantern' })
  for (const version_number of ['1.0.0', '1.1.0', '2.0.0']) {
    const file_parts = ['main', 'sources']
    const data = versionData({ version_number, file_parts, file_types: { sources: 'sources-jar' } })
    const files = file_parts.map((name) => {
      const suffix = name === 'main' ? '' : `-${name}`
      const bytes = modJar(version_number + name)
      jars.set(`lantern-${version_number}${suffix}.jar`, bytes)
      return { name, filename: `Lantern ${version_number}${suffix}.jar`, bytes }
    })
    const { payload, headers } = await form({ ...data, project_id: project.id }, files)
    const answer = await t.as(owner).post('/v3/version', payload, { headers })
    assert.equal(answer.statusCode, 201, answer.body)
  }
})
after(() => served?.t.close())

for (const { name, needs, install, copy, stale, checksums } of BUILDS)
  test(name, async (context) => {
    const { t, url, requests } = served
    const client = { name, needs, install, program: copy(url, '1.0.0') }
    const installed = await openClient(context, client)
    if (installed === undefined) return
    const downloads = async (): Promise<number> => {
      await t.deps.events.flush()
      return (await t.anyone.get('/v3/project/lantern')).json().downloads
    }
    /** Copies the files of a version and compares them. Returns the paths below the repository and their statuses. */
    const resolve = async (version: string, expected: string): Promise<string[]> => {
      for (const each of stale) rmSync(join(installed, each), { recursive: true, force: true })
      requests.length = 0
      await runClient(installed, { program: copy(url, version) }, BRIEF)
      const names = [`lantern-${expected}-sources.jar`, `lantern-${expected}.jar`]
      assert.deepEqual(readdirSync(join(installed, 'files')).sort(), names)
      for (const each of names)
        assert.ok(readFileSync(join(installed, 'files', each)).equals(jars.get(each) ?? Buffer.of()), each)
      return requests.map((request) => request.replace('/maven/maven/depot/lantern/', ''))
    }
    const before = await downloads()
    const exact = await resolve('1.0.0', '1.0.0')
    const ends = ['.pom 200', '.jar 307', '-sources.jar 307']
    for (const each of [...ends, ...checksums]) assert.ok(exact.includes(`GET 1.0.0/lantern-1.0.0${each}`), `${exact}`)
    assert.equal(await downloads(), before + 2)
    const newest = await resolve('[1.0.0,2.0.0)', '1.1.0')
    for (const each of ['', ...(checksums.length > 0 ? ['.sha1'] : [])])
      assert.ok(newest.includes(`GET maven-metadata.xml${each} 200`), `${newest}`)
    await assert.rejects(resolve('3.0.0', '3.0.0'), /maven\.depot:lantern:.*3\.0\.0/)
    assert.match(requests[0] ?? '', /lantern-3\.0\.0\.pom 404$/)
  })
