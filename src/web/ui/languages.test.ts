import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { IntlMessageFormat } from 'intl-messageformat'
import { html } from './html.ts'
import { chooseLanguage, DEFAULT_LANGUAGE, languageOf } from './languages.ts'
import { english } from './messages/english.ts'
import { german } from './messages/german.ts'

const ROOT = join(import.meta.dirname, '../../..')
const MESSAGES = join(import.meta.dirname, 'messages')

/** Returns the names of values and tags in a message, with the cases of plurals and selects. */
function namesIn(text: string, tag: string): string[] {
  const names = new Set<string>()
  const walk = (value: unknown): void => {
    if (Array.isArray(value)) value.forEach(walk)
    else if (typeof value === 'object' && value !== null) {
      // 0 is text and 7 the number sign; every other element has a name.
      if (
        'type' in value &&
        'value' in value &&
        value.type !== 0 &&
        value.type !== 7 &&
        typeof value.value === 'string'
      )
        names.add(`${value.value}:${value.type === 8 ? 'tag' : 'value'}`)
      Object.values(value).forEach(walk)
    }
  }
  walk(new IntlMessageFormat(text, tag).getAst())
  return [...names].sort()
}

/** Files whose keys begin with several names. In all other files, every key begins with the name of the file or with `done.`. */
const MIXED = ['account', 'common', 'publish', 'site', 'webhooks']

test('every file of messages has the same sorted keys in every language, and no key is in two files', () => {
  const keysIn = (tag: string) =>
    globSync('*.json', { cwd: join(MESSAGES, tag) })
      .sort()
      .map((file) => {
        const text = readFileSync(join(MESSAGES, tag, file), 'utf8')
        const keys = Object.keys(JSON.parse(text))
        assert.equal(text.match(/^ {2}"/gm)?.length, keys.length, `${tag}/${file} has a key twice`)
        return { area: file.replace('.json', ''), keys }
      })
  const areas = keysIn('en')
  assert.deepEqual(keysIn('de'), areas)
  for (const { area, keys } of areas) {
    assert.deepEqual(keys, keys.toSorted(), area)
    const isOwn = (key: string) => MIXED.includes(area) || key.startsWith(`${area}.`) || key.startsWith('done.')
    assert.deepEqual(
      keys.filter((key) => !isOwn(key)),
      [],
      area,
    )
  }
  const all = areas.flatMap(({ keys }) => keys)
  assert.deepEqual(all.sort(), Object.keys(english).sort())
})

/** Texts that are only shown if the instance has a mail server, or that claim nothing about a particular email. */
const ABOUT_MAIL =
  /^(?:operate|layout\.quiet|notifications\.unsubscribe)\.|^(?:done\.verified|ops\.invitations\.mailed|notifications\.email\.(?:text|no-address))$/

test('a text that says that an email is sent has a variant for an instance without a mail server', () => {
  const says =
    /\b(?:sent|sends?|receives?|again)\b[^.]*\bemail|\bemails?\b[^.]*\b(?:sent|receive)|your mail|spam folder/i
  const found = Object.entries(english).filter(([key, text]) => says.test(text) && !key.endsWith('.unsent'))
  assert.ok(found.length > 10)
  const missing = found
    .map(([key]) => key)
    .filter((key) => !ABOUT_MAIL.test(key) && !Object.hasOwn(english, `${key}.unsent`))
  assert.deepEqual(missing, [])
})

test('every message has the same values in every language', () => {
  assert.deepEqual(Object.keys(german), Object.keys(english))
  for (const [key, text] of Object.entries(english)) {
    const translated = german[key as keyof typeof german]
    assert.deepEqual(namesIn(translated, 'de'), namesIn(text, 'en'), key)
    assert.ok(translated.trim() !== '' && text.trim() !== '', key)
  }
})

test('every message is used', () => {
  const sources = globSync('src/**/*.ts', { cwd: ROOT })
    .filter((file) => !file.endsWith('.test.ts'))
    .map((file) => readFileSync(join(ROOT, file), 'utf8'))
    .join('\n')
  // A key can end in a value of the code: `layout.theme.${value}`.
  const prefixes = [...sources.matchAll(/`([a-z-]+(?:\.[a-z-]+)*\.)\$\{/g)].map(([, prefix = '']) => prefix)
  const unused = Object.keys(english).filter(
    (key) =>
      !sources.includes(`'${key.replace(/\.unsent$/, '')}'`) && !prefixes.some((prefix) => key.startsWith(prefix)),
  )
  assert.deepEqual(unused, [])
})

test('the cookie chooses the language, then the browser by its weights, else it is English', () => {
  const cases: [string | undefined, string | undefined, string][] = [
    [undefined, undefined, 'en'],
    ['de', 'en', 'de'],
    ['xx', 'de-CH', 'de'],
    ['__proto__', undefined, 'en'],
    ['ar-XB', 'de', 'ar-XB'],
    [undefined, 'ar-XB', 'en'],
    [undefined, 'fr, de;q=0.5, en;q=0.7', 'en'],
    [undefined, 'fr;q=1, DE-at ; q=0.9', 'de'],
    [undefined, 'de;q=0, en', 'en'],
    [undefined, 'de;q=x, fr', 'en'],
    [undefined, `${'x,'.repeat(5000)}de`, 'en'],
    [undefined, ';;;,,,q=', 'en'],
    ['', '', 'en'],
  ]
  for (const [cookie, header, tag] of cases)
    assert.equal(chooseLanguage(cookie, header).tag, tag, `${cookie} ${header}`)
})

test('formats values for the language, and a value can be markup', () => {
  const de = languageOf('de') ?? assert.fail()
  assert.equal(de.t('layout.search-count', { count: 1873 }), '1.873 Projekte durchsuchen')
  assert.equal(de.t('layout.search-count', { count: 1 }), 'Ein Projekt durchsuchen')
  assert.throws(() => DEFAULT_LANGUAGE.t('layout.error-title'))
  const rich = html`${DEFAULT_LANGUAGE.rich('layout.instance', { name: '<b>', host: html`<strong>x</strong>` })}`
  assert.equal(String(rich), '&lt;b&gt; at <strong>x</strong>')
})

test('the language for tests turns every word round', () => {
  const pseudo = languageOf('ar-XB') ?? assert.fail()
  assert.equal(pseudo.t('layout.search'), '\u202eSearch\u202c \u202eprojects\u202c')
  assert.equal(pseudo.dir, 'rtl')
})
