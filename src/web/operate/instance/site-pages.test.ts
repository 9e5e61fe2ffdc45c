// The pages with versions, such as the terms, and the operator's links in the footer.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { testApp } from '#test/support/app/test-app.ts'
import { assertValidHtml } from '#test/support/http/html-page.ts'
import { assertLeads, assertSays, visitor } from '#test/support/http/visitor.ts'

const HOSTILE = '<script>alert(1)</script>'
const PAGES = '/operator/pages'

const t = await testApp()
after(() => t.close())
const admin = await t.make.account({ role: 'admin', username: 'olga' })
const operator = visitor(t, admin.token)

test('only admins see the pages', async () => {
  const moderator = visitor(t, (await t.make.account({ role: 'moderator' })).token)
  for (const path of [PAGES, `${PAGES}/terms`]) {
    assert.equal((await moderator.get(path)).statusCode, 404, path)
    const { body, statusCode } = await operator.get(path)
    assert.equal(statusCode, 200)
    assertValidHtml(body, path)
  }
  for (const path of ['boats', 'terms/version/1', 'terms/version/x'])
    assert.equal((await operator.get(`${PAGES}/${path}`)).statusCode, 404, path)
})

test('a page is previewed, published with versions that remain readable, and removed', async () => {
  const path = `${PAGES}/terms`
  const form = await operator.get(path)
  const preview = await operator.sendFrom(form, path, { text: `# Be **kind** ${HOSTILE}`, do: 'preview' })
  assertSays(preview, 200, '<strong>kind</strong>')
  assertValidHtml(preview.body)
  assert.ok(!preview.body.includes(HOSTILE))
  assert.equal((await visitor(t).get('/terms')).statusCode, 404, 'a preview publishes nothing')
  for (const text of ['First text', 'Second text', ''])
    assertLeads(
      await operator.sendFrom(await operator.get(path), path, { text, do: 'save' }),
      `${path}?done=page-published`,
    )
  const shown = await operator.get(path)
  assertSays(shown, 200, /Version 3[\s\S]*This version removed the page[\s\S]*Version 2[\s\S]*olga/)
  assertValidHtml(shown.body)
  assertSays(await operator.get(`${path}/version/1`), 200, 'First text')
  assertSays(await operator.get(`${path}/version/3`), 200, 'This version removed the page.')
})

test('a text that another operator has changed leads to a choice; a long text is refused', async () => {
  const path = `${PAGES}/imprint`
  const old = await operator.get(path)
  assertLeads(
    await operator.sendFrom(await operator.get(path), path, { text: 'Theirs', do: 'save' }),
    `${path}?done=page-published`,
  )
  const refused = await operator.sendFrom(old, path, { text: 'Mine', do: 'save' })
  assertSays(refused, 409, 'Theirs')
  assertSays(refused, 409, 'Mine')
  const long = await operator.sendFrom(await operator.get(path), path, { text: 'x'.repeat(65_537), do: 'save' })
  assertSays(long, 400, 'The text must')
})

test('own links are in the footer of every page; a wrong URL is refused, and the form keeps it', async () => {
  const form = await operator.get(PAGES)
  const links = { 'label-1': 'Forum <b>', 'url-1': 'https://forum.example/', 'label-3': 'Packs', 'url-3': '/modpacks' }
  assertLeads(await operator.sendFrom(form, PAGES, { ...links, do: 'save' }), `${PAGES}?done=saved`)
  for (const path of ['/', '/account/sign-in']) {
    const { body } = await visitor(t).get(path)
    assert.match(
      body,
      /<footer[\s\S]*href="https:\/\/forum\.example\/">Forum &lt;b&gt;<[\s\S]*href="\/modpacks">Packs</,
    )
  }
  const wrong = await operator.sendFrom(await operator.get(PAGES), PAGES, { ...links, 'url-3': 'http://x', do: 'save' })
  assertSays(wrong, 400, 'The URL must be an https URL, or a path that begins with /')
  assertSays(wrong, 400, 'href="#url-3"')
  assertSays(wrong, 400, 'value="http://x"')
  assertValidHtml(wrong.body)
  assertLeads(await operator.sendFrom(await operator.get(PAGES), PAGES, { do: 'save' }), `${PAGES}?done=saved`)
  assert.doesNotMatch((await visitor(t).get('/')).body, /forum\.example/)
})
