// Downloads that a CDN served from its cache, as the operator reports them.

import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { DAY_MS, MINUTE_MS } from '#lib/time.ts'
import { ADMIN_KEY, testApp } from '#test/support/app/test-app.ts'
import type { MadeProject } from '#test/support/factories/factories.ts'
import { slicesOf } from '#test/support/http/analytics-queries.ts'

const t = await testApp({ env: { FILES_BASE_URL: 'https://cdn.test/files', COUNTRY_HEADER: 'X-Country' } })
after(() => t.close())

const headers = { 'x-admin-key': ADMIN_KEY }
const report = (...downloads: object[]) => t.anyone.post('/_internal/admin/downloads', { downloads }, { headers })

async function aFile(): Promise<{ project: MadeProject; version: { id: string }; url: string }> {
  const project = await t.make.project()
  const version = await t.make.version({ project })
  await t.make.file({ version, project, bytes: Buffer.from(project.id), filename: 'über "1".jar' })
  const { url } = (await t.anyone.get(`/v3/version/${version.id}`)).json().files[0]
  return { project, version, url }
}

async function downloads(project: { id: string }): Promise<number> {
  await t.deps.events.flush()
  return (await t.anyone.get(`/v3/project/${project.id}`)).json().downloads
}

describe('reported downloads', () => {
  test('are counted by URL or path, with the data of the request, on their day', async () => {
    const { project, version, url } = await aFile()
    const yesterday = Math.floor(t.deps.now() / DAY_MS - 1) * DAY_MS
    const answer = await report(
      { url: `${url}?reason=modpack&loader=none`, ip: '192.0.2.1', headers: { Referer: 'https://site.example/mod/x' } },
      { url: new URL(url).pathname, ip: '2001:db8::1', at: new Date(yesterday).toISOString(), signed_in: true },
    )
    assert.equal(answer.statusCode, 200)
    assert.deepEqual(answer.json(), { counted: 2, capped: 0, unknown: 0 })
    assert.equal(await downloads(project), 2)
    assert.equal((await t.anyone.get(`/v3/version/${version.id}`)).json().downloads, 2)
    const days = await slicesOf(t, project.owner, {
      start: new Date(yesterday).toISOString(),
      end: new Date(yesterday + 2 * DAY_MS).toISOString(),
      resolution: { minutes: 1440 },
      metrics: { project_downloads: ['domain'] },
    })
    const point = { source_project: project.id, metric_kind: 'downloads', downloads: 1 }
    assert.deepEqual(days, [[{ ...point, domain: '' }], [{ ...point, domain: 'site.example' }]])
  })

  test('have the cap of the file route, together with it', async () => {
    const { project, url } = await aFile()
    const path = new URL(url).pathname.replace('/files', '')
    for (let i = 0; i < 2; i += 1) {
      const answer = await t.inject({
        method: 'GET',
        url: path,
        headers: { 'user-agent': 'x' },
        remoteAddress: '192.0.2.7',
      })
      assert.equal(answer.statusCode, 200)
    }
    const answer = await report(...Array.from({ length: 9 }, () => ({ url, ip: '192.0.2.7' })))
    assert.deepEqual(answer.json(), { counted: 4, capped: 5, unknown: 0 })
    assert.equal(await downloads(project), 6)
  })

  test('that are not a file are skipped and reported', async () => {
    const { project, version, url } = await aFile()
    const base = 'https://cdn.test/files/data'
    const urls = [
      `${base}/${project.id}/versions/${version.id}/other.jar`,
      `${base}/Unknown1/versions/${version.id}/${url.slice(url.lastIndexOf('/') + 1)}`,
      `${base}/${project.id}/versions/${version.id}/%E0%A4%A`,
      `${base}/${project.id}/versions/${version.id}/%00`,
      'https://cdn.test/files/index.html',
      'https://[',
      '',
    ]
    const answer = await report(...urls.map((each) => ({ url: each, ip: '192.0.2.9' })), { url, ip: '192.0.2.9' })
    assert.deepEqual(answer.json(), { counted: 1, capped: 0, unknown: urls.length })
  })

  test('with an error are rejected whole, with its field', async () => {
    const { project, url } = await aFile()
    const at = (ms: number) => new Date(t.deps.now() + ms).toISOString()
    for (const [problem, field] of [
      [{ ip: 'nowhere' }, 'downloads.1.ip'],
      [{ at: 'yesterday' }, 'downloads.1.at'],
      [{ at: at(10 * MINUTE_MS) }, 'downloads.1.at'],
      [{ at: at(-8 * DAY_MS) }, 'downloads.1.at'],
      [{ headers: { a: 1 } }, 'downloads.1.headers.a'],
    ] as const) {
      const answer = await report({ url, ip: '192.0.2.1' }, { url, ip: '192.0.2.2', ...problem })
      assert.deepEqual([answer.statusCode, answer.json().details.field], [400, field])
    }
    const many = await report(...Array.from({ length: 1_001 }, () => ({ url, ip: '192.0.2.1' })))
    assert.equal(many.statusCode, 400)
    assert.equal(await downloads(project), 0)
  })

  test('come one at a time from existing edge programs', async () => {
    const { project, url } = await aFile()
    const body = { url, project_id: project.id, version_name: '1.0', ip: '192.0.2.1', headers: { 'user-agent': 'x' } }
    for (const path of ['/_internal/admin/_count-download', '/v2/admin/_count-download'])
      assert.equal((await t.anyone.patch(path, body, { headers })).statusCode, 204)
    const unknown = await t.anyone.patch('/_internal/admin/_count-download', { ...body, url: '/x' }, { headers })
    assert.deepEqual([unknown.statusCode, unknown.json().details.field], [400, 'url'])
    assert.equal(await downloads(project), 2)
    for (const key of [{}, { 'x-admin-key': 'wrong' }, { 'x-admin-key': '' }])
      assert.equal((await t.anyone.patch('/_internal/admin/_count-download', body, { headers: key })).statusCode, 404)
  })
})
