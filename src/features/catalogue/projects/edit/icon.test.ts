// A project's icon: set, replaced and removed. The gallery tests cover the permissions.
import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import sharp from 'sharp'
import { testApp } from '#test/support/app/test-app.ts'
import type { MadeProject } from '#test/support/factories/factories.ts'

const t = await testApp()
after(() => t.close())

/** Large enough that a scaled one is smaller. */
const picture = () =>
  sharp({
    create: {
      width: 300,
      height: 150,
      channels: 3,
      background: '#a03010',
      noise: { type: 'gaussian', mean: 20, sigma: 5 },
    },
  })
    .png()
    .toBuffer()
const fetch = (url: string) => t.anyone.get(new URL(url).pathname)
const binary = { 'content-type': 'image/png' }

describe('the icon', () => {
  const setIcon = (project: MadeProject, bytes: Buffer) =>
    t.as(project.owner).patch(`/v3/project/${project.slug}/icon`, bytes, { query: { ext: 'png' }, headers: binary })
  const icon = async (project: MadeProject) => {
    const { icon_url, raw_icon_url, color, updated } = (
      await t.as(project.owner).get(`/v3/project/${project.id}`)
    ).json()
    return { icon_url, raw_icon_url, color, updated }
  }

  test('appears immediately with its color; the old one is deleted afterwards', async () => {
    const project = await t.make.project()
    const start = await icon(project)
    assert.equal(start.icon_url, null)
    t.advance(1000)
    assert.equal(
      (
        await setIcon(
          project,
          await sharp({ create: { width: 96, height: 96, channels: 3, background: '#0000ff' } })
            .png()
            .toBuffer(),
        )
      ).statusCode,
      204,
    )
    const first = await icon(project)
    assert.equal(first.color, 0x0000ff)
    assert.ok(first.updated > start.updated)
    assert.equal((await setIcon(project, await picture())).statusCode, 204)
    const second = await icon(project)
    assert.match(second.icon_url, /_96\.webp$/)
    await t.runJobs()
    assert.equal((await fetch(second.icon_url)).statusCode, 200)
    assert.equal((await fetch(first.raw_icon_url)).statusCode, 404)
  })

  test('takes 262144 bytes and not one more', async () => {
    const project = await t.make.project()
    const start = await sharp({ create: { width: 64, height: 64, channels: 3, background: '#00ff00' } })
      .png()
      .toBuffer()
    const padded = (bytes: number) => Buffer.concat([start, Buffer.alloc(bytes - start.length)])
    assert.equal((await setIcon(project, padded(262_144))).statusCode, 204)
    const answer = await setIcon(project, padded(262_145))
    assert.equal(answer.statusCode, 400)
    assert.match(answer.json().description, /256 KiB/)
  })

  test('removed is null in all three, and removing none is 204', async () => {
    const project = await t.make.project()
    assert.equal((await setIcon(project, await picture())).statusCode, 204)
    for (let i = 0; i < 2; i += 1) {
      assert.equal((await t.as(project.owner).delete(`/v3/project/${project.id}/icon`)).statusCode, 204)
      const { updated: _, ...rest } = await icon(project)
      assert.deepEqual(rest, { icon_url: null, raw_icon_url: null, color: null })
    }
  })
})
