// The conformance suite of the mail port. The test of each adapter runs it.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ApiError } from '#lib/errors.ts'
import { BODY_MAX, type Mail, type MailMessage, SUBJECT_MAX } from '#ports/mail/mail.ts'

/** An adapter under test and, as raw RFC 5322 texts in the order of arrival, what it has handed over. */
export type MailUnderTest = { mail: Mail; received: () => Promise<string[]>; close: () => Promise<void> }

const message: MailMessage = { to: 'mira@example.org', subject: 'Hello', text: 'Hello Mira', html: '<p>Hello Mira</p>' }
const link = `https://depot.example.org/account/verify-email?flow=${'aZ9'.repeat(18)}`

/** Registers the suite for one adapter. `make` gives one whose sender is `Depot <noreply@example.org>`. */
export function mailConformance(adapter: string, make: () => Promise<MailUnderTest>): void {
  function guarantee(sentence: string, check: (subject: MailUnderTest) => Promise<void>) {
    test(`${adapter}: ${sentence}`, async () => {
      const subject = await make()
      try {
        await check(subject)
      } finally {
        await subject.mail.close()
        await subject.close()
      }
    })
  }

  guarantee('a message arrives once, with its headers', async ({ mail, received }) => {
    await mail.send(message)
    const raw = await theOnly(received)
    assert.equal(headerOf(raw, 'From'), 'Depot <noreply@example.org>')
    assert.equal(headerOf(raw, 'To'), 'mira@example.org')
    assert.equal(headerOf(raw, 'Subject'), 'Hello')
    assert.equal(headerOf(raw, 'Auto-Submitted'), 'auto-generated')
    assert.match(headerOf(raw, 'Message-ID'), /^<[^<>\s]+@example\.org>$/)
    assert.equal(headerOf(raw, 'Date'), 'Sun, 15 Jun 2025 15:06:40 +0000')
    assert.doesNotMatch(raw.replaceAll('\r\n', ''), /[\r\n]/, 'every line ends with CR and LF')
  })

  guarantee('a long link is unbroken on a separate line in the text part', async ({ mail, received }) => {
    await mail.send({ ...message, text: `Open this:\n\n${link}\n\nBye` })
    assert.ok((await theOnly(received)).split('\r\n').includes(link))
  })

  guarantee('texts of any script, dots and long lines arrive as they were', async ({ mail, received }) => {
    const text = `.leading dot\n..two\nGrüße, 世界 🎉\n${'long '.repeat(400)}\n=3D\nend`
    await mail.send({ ...message, subject: 'Grüße, 世界 🎉', text, html: '<p>世界 &amp; .</p>\n.' })
    const raw = await theOnly(received)
    assert.equal(decodeWords(headerOf(raw, 'Subject')), 'Grüße, 世界 🎉')
    assert.equal(partOf(raw, 'text/plain'), text)
    assert.equal(partOf(raw, 'text/html'), '<p>世界 &amp; .</p>\n.')
    assert.ok(raw.split('\r\n').every((line) => Buffer.byteLength(line) <= 998))
  })

  guarantee('a message may do without HTML', async ({ mail, received }) => {
    await mail.send({ to: message.to, subject: message.subject, text: 'Only text' })
    const raw = await theOnly(received)
    assert.match(headerOf(raw, 'Content-Type'), /^text\/plain/)
    assert.match(raw, /\r\n\r\nOnly text\s*$/)
  })

  guarantee('parallel messages all arrive, each once', async ({ mail, received }) => {
    const names = Array.from({ length: 30 }, (_, i) => `user${i}`)
    await Promise.all(names.map((name) => mail.send({ ...message, to: `${name}@example.org` })))
    const receivers = (await received()).map((raw) => headerOf(raw, 'To').split('@')[0])
    assert.deepEqual(receivers.sort(), names.sort())
  })

  guarantee('nothing that could add a header or a receiver is sent', async ({ mail, received }) => {
    const bad: Partial<MailMessage>[] = [
      { subject: 'Hello\r\nBcc: other@example.org' },
      { subject: 'Hello\nBcc: other@example.org' },
      { subject: 'Hello\rBcc: other@example.org' },
      { subject: 'Hello\u0000' },
      { to: 'mira@example.org\r\nBcc: other@example.org' },
      { to: 'mira@example.org\n' },
      { to: 'mira@example.org, other@example.org' },
      { to: 'Mira <mira@example.org>' },
      { to: 'group: a@example.org, b@example.org;' },
      { to: '"quoted"@example.org' },
      { to: 'mira' },
      { to: '' },
    ]
    for (const part of bad) await assertRefused(mail, { ...message, ...part })
    assert.deepEqual(await received(), [])
  })

  guarantee('subject and texts are limited', async ({ mail, received }) => {
    await assertRefused(mail, { ...message, subject: 'x'.repeat(SUBJECT_MAX + 1) })
    await assertRefused(mail, { ...message, text: 'x'.repeat(BODY_MAX + 1) })
    await assertRefused(mail, { ...message, html: 'x'.repeat(BODY_MAX + 1) })
    assert.deepEqual(await received(), [])
    await mail.send({ ...message, subject: 'x'.repeat(SUBJECT_MAX), text: 'x '.repeat(BODY_MAX / 2) })
    await theOnly(received)
  })

  guarantee('an adapter that can send passes its check, which sends nothing', async ({ mail, received }) => {
    await mail.check()
    assert.deepEqual(await received(), [])
  })
}

/** Asserts that the message fails with `mail_error`, whose public message does not contain the cause. */
export async function assertRefused(mail: Mail, refused: MailMessage): Promise<void> {
  await assert.rejects(mail.send(refused), (error) => {
    assert.ok(error instanceof ApiError)
    assert.deepEqual([error.kind, error.message], ['mail_error', 'The message could not be sent'])
    assert.ok(error.cause instanceof Error)
    return true
  })
}

async function theOnly(received: () => Promise<string[]>): Promise<string> {
  const [first, ...others] = await received()
  assert.equal(others.length, 0)
  assert.ok(first !== undefined)
  return first
}

function headerOf(raw: string, name: string): string {
  const head = raw.slice(0, raw.indexOf('\r\n\r\n')).replaceAll(/\r\n[ \t]+/g, ' ')
  const values = head.split('\r\n').filter((line) => line.startsWith(`${name}: `))
  assert.equal(values.length, 1, `one header ${name}`)
  return values[0]?.slice(name.length + 2) ?? ''
}

/** A header value with its encoded words (RFC 2047) read. */
function decodeWords(value: string): string {
  const joined = value.replaceAll(/\?=\s+=\?/g, '?==?')
  return joined.replaceAll(/=\?utf-8\?([bq])\?([^?]*)\?=/gi, (_, kind: string, word: string) =>
    kind.toLowerCase() === 'b' ? Buffer.from(word, 'base64').toString() : fromQuoted(word.replaceAll('_', ' ')),
  )
}

/** The decoded content of the part of one type, with plain line feeds. */
function partOf(raw: string, type: string): string {
  const boundary = /boundary="([^"]+)"/.exec(raw)?.[1]
  const part = raw.split(`--${boundary}`).find((section) => section.includes(`Content-Type: ${type}`)) ?? ''
  const split = part.indexOf('\r\n\r\n')
  const content = part.slice(split + 4).replace(/\r\n$/, '')
  const encoding = /Content-Transfer-Encoding: (\S+)/.exec(part)?.[1]
  const decoded = encoding === 'base64' ? Buffer.from(content, 'base64').toString() : content
  return (encoding === 'quoted-printable' ? fromQuoted(content) : decoded).replaceAll('\r\n', '\n')
}

function fromQuoted(text: string): string {
  const bytes = text.replaceAll('=\r\n', '').replaceAll(/=([0-9A-F]{2})/g, (_, hex: string) => `%${hex}`)
  return decodeURIComponent(bytes.replaceAll(/%(?![0-9A-F]{2})/g, '%25'))
}
