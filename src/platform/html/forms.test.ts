import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertValidHtml, samplePage } from '#test/support/http/html-page.ts'
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
} from './forms.ts'
import { html } from './html.ts'
import { layout } from './layout.ts'

const HOSTILE = `"><script>alert(1)</script>' autofocus onfocus=alert(1) x="</textarea>`

test('a form with every kind of field and every error is valid, and what was typed stays text', () => {
  const page = samplePage()
  const errors = ['a', 'b', 'c', 'd', 'e', 'f'].map((field) => ({ field, message: HOSTILE, lang: 'en' }))
  const common = { label: HOSTILE, hint: HOSTILE, errors }
  const content = html`${textField(page, { ...common, name: 'a', value: HOSTILE, isCode: true, placeholder: HOSTILE })}
${passwordField(page, { ...common, name: 'b', autocomplete: 'new-password' })}
${textArea(page, { ...common, name: 'c', value: `\n${HOSTILE}` })}
${selectField(page, { ...common, name: 'd', choices: [{ value: HOSTILE, label: HOSTILE, isChosen: true }] })}
${fileField(page, { ...common, name: 'e', accept: '.png', isOptional: true })}
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
    { field: 'name', message: 'The name is taken.', lang: 'en' },
    { field: undefined, message: 'Später.' },
  ]
  const field = String(textField(page, { name: 'name', label: 'Name', hint: 'Kurz', errors }))
  assert.match(field, /<p class="error" id="name-error" lang="en">/)
  assert.match(field, /aria-invalid="true" aria-describedby="name-hint name-error"/)
  assert.ok(!String(textField(page, { name: 'other', label: 'Name', errors })).includes('aria-'))
  const summary = String(errorSummary(page, errors))
  assert.match(summary, /role="alert" tabindex="-1" autofocus/)
  assert.match(summary, /<li lang="en"><a href="#name">The name is taken\.<\/a><\/li><li>Später\.<\/li>/)
  assert.match(summary, /Es gibt 2 Probleme/)
  assert.equal(errorSummary(page, []), null)
})

test('every posted form carries the token, and a password is never shown again', () => {
  const page = samplePage()
  assert.match(
    String(form(page, { action: '/x', content: null })),
    /<input type="hidden" name="_csrf" value="token-of-the-form">/,
  )
  assert.ok(!/ value=/.test(String(passwordField(page, { name: 'p', label: 'P', autocomplete: 'current-password' }))))
})
