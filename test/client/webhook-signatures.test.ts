// Signatures and messages with known results, and their verification by the published client.
import assert from 'node:assert/strict'
import { createPrivateKey, sign } from 'node:crypto'
import { test } from 'node:test'
import { verifyWebhook, WebhookVerificationError } from '#client/index.ts'
import { discordBody } from '#features/exchange/webhooks/messages/discord.ts'
import { escaped, toDiscordText } from '#features/exchange/webhooks/messages/discord-text.ts'
import { githubSignature } from '#features/exchange/webhooks/messages/github.ts'
import type { EventFacts } from '#features/exchange/webhooks/messages/payload.ts'
import { formatV1a, messageId, signedContent, signV1 } from '#features/exchange/webhooks/messages/standard.ts'

const COUNTED = Buffer.from(Array.from({ length: 32 }, (_, index) => index))
const MESSAGE = {
  id: 'evt_AABBCCDDEEFFGGHH',
  timestamp: 1772366400,
  body: '{"type":"version.published","timestamp":"2026-03-01T12:00:00.000Z","data":{"project_id":"AABBCCDD","version_id":"EEFFGGHH"}}',
}

/** The private key of this seed, in PKCS #8. */
function privateKey(seed: Buffer) {
  const der = Buffer.concat([Buffer.from('302e020100300506032b657004220420', 'hex'), seed])
  return createPrivateKey({ key: der, format: 'der', type: 'pkcs8' })
}

test('signatures are those of the specification', () => {
  const secret = Buffer.from('MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', 'base64')
  const specified = { id: 'msg_p5jXN8AQM9LWM0D4loKWxJek', timestamp: 1614265330, body: '{"test": 2432232314}' }
  assert.equal(signV1(secret, signedContent(specified)), 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=')
  const content = signedContent(MESSAGE)
  assert.equal(signV1(COUNTED, content), 'v1,/D6mjncp9BQhE8Hl0Ig4okTCiLxbb3mL14MZz2fIb9s=')
  assert.equal(
    formatV1a(sign(null, content, privateKey(COUNTED))),
    'v1a,lI7M1SDDZfETYPSg+LtTNAf/tRNiqI9P8AOjL6pfJjIuKKsJgkoyvOf9xdUhoXRISxvuSfiG1Isx29jK6GnmCA==',
  )
  assert.equal(
    githubSignature("It's a Secret to Everybody", 'Hello, World!'),
    'sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17',
  )
})

test('the client verifies with the secret or the public key, and refuses everything else', async () => {
  const content = signedContent(MESSAGE)
  const signatures = ['v1,AAAA', signV1(COUNTED, content), formatV1a(sign(null, content, privateKey(COUNTED)))]
  const headers = {
    'webhook-id': MESSAGE.id,
    'webhook-timestamp': String(MESSAGE.timestamp),
    'webhook-signature': signatures.join(' '),
  }
  const secret = `whsec_${COUNTED.toString('base64')}`
  const now = MESSAGE.timestamp * 1_000
  for (const key of [secret, 'whpk_A6EHv/POEL4dcN0Y50vAmWfk1jCbpQ1fHdyGZBJVMbg=']) {
    assert.deepEqual(await verifyWebhook(headers, MESSAGE.body, key, { now }), JSON.parse(MESSAGE.body))
    assert.deepEqual(
      await verifyWebhook(new Headers(headers), Buffer.from(MESSAGE.body), key, { now: now + 300_000 }),
      JSON.parse(MESSAGE.body),
    )
  }
  const other = `whsec_${Buffer.alloc(32, 7).toString('base64')}`
  const refused: [Record<string, string>, string, string, number][] = [
    [headers, `${MESSAGE.body} `, secret, now],
    [headers, MESSAGE.body, other, now],
    [headers, MESSAGE.body, 'whsec_*', now],
    [headers, MESSAGE.body, secret, now + 301_000],
    [headers, MESSAGE.body, secret, now - 301_000],
    [{ ...headers, 'webhook-id': 'evt_other' }, MESSAGE.body, secret, now],
    [{ ...headers, 'webhook-timestamp': 'now' }, MESSAGE.body, secret, now],
    [{ ...headers, 'webhook-signature': 'v1,* v2,x' }, MESSAGE.body, secret, now],
    [{ ...headers, 'webhook-signature': '' }, MESSAGE.body, secret, now],
  ]
  for (const [sent, body, key, at] of refused)
    await assert.rejects(verifyWebhook(sent, body, key, { now: at }), WebhookVerificationError)
})

test('the identifier of a message depends on the event and the webhook only', () => {
  assert.equal(messageId('event', 'hook'), messageId('event', 'hook'))
  assert.match(messageId('event', 'hook'), /^evt_[0-9A-Za-z]{16}$/)
  assert.notEqual(messageId('event', 'hook'), messageId('event', 'other'))
})

test('Discord messages stay within the limits', () => {
  const event: EventFacts = {
    key: 'k',
    kind: 'version.published',
    at: new Date(0),
    project_id: 'p',
    version_id: 'v',
    data: { project_id: 'AABBCCDD', version_id: 'EEFFGGHH' },
  }
  const long = '*😀'.repeat(9_000)
  const many = Array.from({ length: 900 }, (_, index) => `1.${index}`)
  const payload = {
    data: event.data,
    project: { name: long, color: -1, icon_url: 'http://insecure.example/' },
    version: { version_number: long, changelog: long, game_versions: many, loaders: [long], version_type: 'beta' },
  }
  const site = { name: `The Discord of Clyde ${'x'.repeat(100)}`, baseUrl: 'https://depot.test', accentHue: null }
  const { username, embeds, allowed_mentions } = JSON.parse(discordBody(event, payload, site))
  const [embed] = embeds
  assert.deepEqual(allowed_mentions, { parse: [] })
  assert.ok(username.length <= 80 && !/discord|clyde/i.test(username))
  assert.ok(embed.title.length <= 256 && embed.description.length <= 4_096 && embed.fields.length <= 25)
  for (const { name, value } of embed.fields) assert.ok(name.length <= 256 && value.length <= 1_024)
  const texts = [
    embed.title,
    embed.description,
    embed.footer.text,
    ...embed.fields.flatMap(({ name, value }: Record<string, string>) => [name, value]),
  ]
  assert.ok(texts.join('').length <= 6_000)
  assert.ok(embed.color >= 0 && embed.color <= 0xffffff)
  assert.equal(embed.thumbnail, undefined)
  assert.equal(embed.url, 'https://depot.test/project/AABBCCDD/version/EEFFGGHH')
  assert.ok(texts.every((text) => text.isWellFormed()))
  assert.equal(escaped('a_b`c`|[d](e)'), 'a\\_b\\`c\\`\\|\\[d\\]\\(e\\)')
})

test('Discord shows a changelog with its form, and links, mentions and HTML as text', () => {
  const forms: [markdown: string, expected: string][] = [
    ['# Big *news*\n\nSome **bold**, ~~old~~ and `code`', '# Big *news*\nSome **bold**, ~~old~~ and `code`'],
    ['##### Small', '**Small**'],
    ['- one\n- two\n  more\n  - inner', '- one\n- two\n  more\n  - inner'],
    ['3. three\n4. four', '3. three\n4. four'],
    ['> quoted\n> twice', '> quoted\n> twice'],
    ['```java\nint a; // @here\n```', '```java\nint a; // @here\n```'],
    ['````\n```\nend\n````', '```\n``\u200b`\nend\n```'],
    ['`` a`b ``', "`a'b`"],
    ['[docs](https://evil.example/a)', 'docs (`https://evil.example/a`)'],
    ['<https://a.example>', 'https\\://a.example (`https://a.example`)'],
    ['https://a.example', 'https\\://a.example'],
    ['@everyone <@123> <#4>', '@\u200beveryone \\<@\u200b123\\> \\<\\#4\\>'],
    ['![a lamp](https://a.example/x.png)', 'a lamp'],
    ['<b>x</b> ||secret||', '\\<b\\>x\\</b\\> \\|\\|secret\\|\\|'],
    ['', ''],
  ]
  for (const [markdown, expected] of forms) assert.equal(toDiscordText(markdown, 2000), expected)
})

test('a long changelog ends after the last block that fits, and never inside a code block', () => {
  const block = `\`\`\`\n${'x'.repeat(900)}\n\`\`\``
  const text = toDiscordText([block, block, block].join('\n\n'), 2000)
  assert.equal(text, `${block}\n${block}\n…`)
  for (const long of ['*😀'.repeat(9_000), '@'.repeat(9_000), '> '.repeat(2_000), '- '.repeat(2_000)]) {
    const short = toDiscordText(long, 2000)
    assert.ok(short.length <= 2000 && short.isWellFormed())
  }
})

test('a Discord message of a version has the author and the image, and no states of drafts', () => {
  const event: EventFacts = {
    key: 'k',
    kind: 'version.published',
    at: new Date(0),
    project_id: 'p',
    version_id: 'v',
    data: { project_id: 'AABBCCDD', version_id: 'EEFFGGHH', from: 'draft', to: 'listed' },
  }
  const image = (url: string, featured: boolean) => ({ url, featured })
  const project = {
    name: 'Lantern',
    gallery: [image('https://files.test/a.webp', false), image('https://files.test/b.webp', true)],
  }
  const payload = {
    data: event.data,
    project,
    version: { version_number: '1.0', changelog: '## New\n\n- **light**', version_type: 'release' },
    author: { username: 'mira', avatar_url: 'https://files.test/mira.webp' },
  }
  const site = { name: 'Mods', baseUrl: 'https://depot.test', accentHue: null }
  const embedOf = (facts: EventFacts) => JSON.parse(discordBody(facts, payload, site)).embeds[0]
  const embed = embedOf(event)
  assert.equal(embed.description, '## New\n- **light**')
  assert.deepEqual(embed.image, { url: 'https://files.test/b.webp' })
  assert.deepEqual(embed.author, {
    name: 'mira',
    url: 'https://depot.test/user/mira',
    icon_url: 'https://files.test/mira.webp',
  })
  assert.deepEqual(embed.fields, [{ name: 'Channel', value: 'release', inline: true }])
  const changed = embedOf({ ...event, kind: 'project.status_changed', version_id: null })
  assert.deepEqual(changed.fields.at(-1), { name: 'Status', value: 'listed', inline: true })
})
