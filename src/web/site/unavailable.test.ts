// The site without a search index, for example while the first index is built.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testApp } from '#test/support/app/test-app.ts'
import { assertValidHtml } from '#test/support/http/html-page.ts'
import { assertSays, visitor } from '#test/support/http/visitor.ts'

test('lists and the home page say that they are not available, and the others are there', async () => {
  const t = await testApp()
  try {
    await t.make.project({ slug: 'still-there', name: 'Still there' })
    await t.deps.search.close()
    for (const path of ['/', '/mods', '/search?q=x', '/mods.atom', '/sitemap.xml']) {
      for (const someone of [visitor(t), visitor(t, (await t.make.account()).token)]) {
        const answer = await someone.get(path)
        assertSays(answer, 503, 'The search index is being built')
        assert.equal(answer.headers['retry-after'], '5', path)
        assertValidHtml(answer.body, path)
      }
    }
    assertSays(await visitor(t).get('/project/still-there'), 200, 'Still there')
  } finally {
    await t.close()
  }
})
