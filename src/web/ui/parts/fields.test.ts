import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertValidHtml, samplePage } from '#test/support/http/html-page.ts'
import { html } from '../html.ts'
import { layout } from '../layout.ts'
import {
  checkbox,
  errorSummary,
  fieldset,
  fileField,
  form,
  passwordField,
  selectField,
  textArea,
  textField,
} from './fields.ts'

const HOSTILE = `"><script>alert(1)</script>' autofocus onfocus=alert(1) x="</textarea>`

test('a form with every kind of field and every error is valid, and what was typed stays text', () => {
  const page = samplePage()
  const errors = ['a', 'b', 'c', 'd', 'e', 'f'].map((field) => ({ field, message: HOSTILE, lang: 'en' }))
  const common = { label: HOSTILE, hint: HOSTILE, errors }
  const content = html`${textField(page, { ...common, name: 'a', value: HOSTILE, isCode: true, placeholder: HOSTILE })}
${passwordField(page, { ...common, name: 'b', autocomplete: 'new-password' })}
${textArea(page, { ...common, name: 'c', value: `\n${HOSTILE}` })}
${selectField(page, { ...common, name: 'd', choices: [{ value: HOSTILE, label: HOSTILE, isChosen: true }] })}
${fileField(page, { ...common, name: 'e', maxBytes: 1024, accept: '.png', isOptional: true })}
${fieldset(page, { legend: HOSTILE, name: 'f', errors, content: checkbox({ name: 'f-1', value: HOSTILE, isChecked: true, label: HOSTILE, hint: HOSTILE }) })}
<button>Send</button>`
  const body = html`<h1>x</h1>${errorSummary(page, errors)}${form(page, { action: '/x', content, hasFile: true })}`
  const document = layout(page, { title: 'x', body })
  assertValidHtml(document)
  assert.ok(!document.includes('<script>alert') && !/<[^>]*"[^"=]* onfocus=/.test(document.replace(/="[^"]*"/g, '')))
  // A line break of the text's own survives the one that browsers leave out.
  assert.ok(document.includes('>\n\n&quot;'))
})

test('an error is beside its field, linked from the summary, and read with it', () => {
  const page = samplePage({ tag: 'de' })
  const errors = [
    { field: 'name', message: 'The name is from another world.', lang: 'en' },
    { field: undefined, message: 'Später.' },
  ]
  const field = String(textField(page, { name: 'name', label: 'Name', hint: 'Kurz', errors }))
  assert.match(field, /<p class="error" id="name-error" lang="en">/)
  assert.match(field, /aria-invalid="true" aria-describedby="name-hint name-error"/)
  assert.ok(!String(textField(page, { name: 'other', label: 'Name', errors })).includes('aria-'))
  const summary = String(errorSummary(page, errors))
  assert.match(summary, /role="alert" tabindex="-1" autofocus/)
  assert.match(summary, /<li lang="en"><a href="#name">The name is from another world\.<\/a><\/li><li>Später\.<\/li>/)
  assert.match(summary, /Es gibt 2 Probleme/)
  assert.equal(errorSummary(page, []), null)
})

test('frequent errors of the API are in the language of the page', () => {
  const page = samplePage({ tag: 'de' })
  const texts: [reason: string, shown: RegExp][] = [
    ['must have at least 3 characters', /Gib mindestens 3 Zeichen ein\./],
    ['must have at least 1 character', /Pflichtfeld|Fülle|Gib/],
    ['must be at most 64 characters long', /Gib höchstens 64 Zeichen ein\./],
    ['is taken', /schon vergeben/],
    ['must be an integer from 1 to 5', /von 1 bis 5/],
    ['must be tide-lamps', /Gib genau tide-lamps ein\./],
    ['You have reached your limit for projects (256)', /Limit von 256/],
  ]
  for (const [reason, shown] of texts) {
    const error = { field: 'name', message: `The name ${reason}.`, reason, lang: 'en' }
    for (const part of [
      errorSummary(page, [error]),
      textField(page, { name: 'name', label: 'Name', errors: [error] }),
    ]) {
      assert.match(String(part), shown)
      assert.ok(!String(part).includes('lang='), String(part))
    }
    assert.match(String(errorSummary(samplePage(), [error])), new RegExp(reason.replace(/[()]/g, '.')))
  }
})

test('every posted form carries the token, and a password is never shown again', () => {
  const page = samplePage()
  assert.match(
    String(form(page, { action: '/x', content: null })),
    /<input type="hidden" name="_csrf" value="token-of-the-form">/,
  )
  assert.ok(!/ value=/.test(String(passwordField(page, { name: 'p', label: 'P', autocomplete: 'current-password' }))))
})
