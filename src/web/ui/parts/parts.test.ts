// The building blocks of the pages for publishers, moderators and operators, with hostile values.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertValidHtml, samplePage } from '#test/support/http/html-page.ts'
import { html, type Markup } from '../html.ts'
import { layout } from '../layout.ts'
import { confirmation, doneNote, saveBar, viewOnly } from './actions.ts'
import { chips, dropZone, optionCards, uploadProgress } from './choices.ts'
import { sheetHead, sheetPart, subjectHead, workSheet } from './frame.ts'
import { shortcuts } from './keys.ts'
import { status, statusOf } from './status.ts'
import { bulkForm, listTable, nameCell, permissionMatrix } from './tables.ts'

const HOSTILE = '</title><script>alert("x")</script>\'&amp;'
const page = samplePage()

function assertSafe(body: Markup): string {
  const text = layout(page, { title: 'Test', body, isWork: true })
  assertValidHtml(text)
  assert.ok(!text.includes('<script>alert'))
  return text
}

test('a table shows its rows with checkboxes, labels and a bulk bar', () => {
  const table = listTable(page, {
    caption: HOSTILE,
    columns: [
      { label: 'Name', sort: { href: '?sort=name', order: 'ascending' } },
      { label: 'Downloads', isNumber: true, room: 'mid' },
      { label: 'Actions', isAction: true },
    ],
    rows: [
      {
        cells: [nameCell({ name: HOSTILE, href: '/mod/x', details: HOSTILE, near: '12', least: ['1.0'] }), '12', 'x'],
        pick: { value: 'a', name: HOSTILE },
      },
    ],
  })
  const actions = [
    { value: 'list', label: 'List' },
    { value: 'archive', label: 'Archive' },
  ]
  const text = assertSafe(bulkForm(page, { action: '/x', table, actions }))
  assert.match(text, /<th scope="col" aria-sort="ascending"><a href="\?sort=name">Name ↑<\/a>/)
  assert.match(text, /<td class="num mid">12/)
  assert.match(text, /<select id="do" name="do">/)
  assert.match(
    assertSafe(bulkForm(page, { action: '/x', table, actions: actions.slice(1) })),
    /name="do" value="archive"/,
  )
})

test('the permission matrix has a checkbox only where the viewer can change something', () => {
  const text = assertSafe(
    permissionMatrix(page, {
      caption: HOSTILE,
      field: 'permissions',
      members: [
        { id: 'a', name: HOSTILE, face: null, detail: HOSTILE },
        { id: 'b', name: 'b', face: null },
      ],
      groups: [
        {
          title: 'Page',
          rows: [
            {
              value: 'EDIT_BODY',
              label: 'Edit description',
              cells: [
                { isGranted: true, isEditable: false },
                { isGranted: false, isEditable: true, isChanged: true },
              ],
            },
          ],
        },
      ],
    }),
  )
  assert.equal(text.match(/type="checkbox"/g)?.length, 1)
  assert.match(text, /name="permissions.b" value="EDIT_BODY"/)
})

test('a confirmation page asks for the name and the password, and Cancel comes first', () => {
  const text = assertSafe(
    confirmation(page, {
      title: HOSTILE,
      consequences: [HOSTILE],
      action: '/x',
      button: HOSTILE,
      cancel: '/y',
      instead: { text: HOSTILE, href: '/z', label: HOSTILE },
      typed: HOSTILE,
      proof: html`<input type="password" name="password">`,
      errors: [{ field: 'name', message: HOSTILE }],
    }),
  )
  assert.ok(text.indexOf('href="/y"') < text.indexOf('class="danger"'))
  assert.match(text, /type="password"/)
})

test('the frame marks the open section and leaves out missing entries', () => {
  const sections = {
    label: HOSTILE,
    current: '/b',
    groups: [
      { items: [{ path: '/a', label: HOSTILE, icon: 'cog' as const, count: 1200, mark: 'hot' as const }, false] },
      { title: HOSTILE, items: [{ path: '/b', label: 'B', icon: 'transfer' as const, isDanger: true }] },
      { title: 'Empty', items: [false] },
    ],
  } as const
  const head = subjectHead(page, { name: HOSTILE, facts: [false, HOSTILE], crumbs: [{ path: '/', label: HOSTILE }] })
  const text = assertSafe(html`${head}${workSheet(page, { sections, body: sheetHead({ title: HOSTILE }) })}`)
  assert.match(text, /href="\/base\/b" class="danger" aria-current="page"/)
  assert.match(text, /1,200/)
  assert.ok(!text.includes('Empty'))
  assert.match(text, /work-icons\.[0-9a-f]{12}\.svg#transfer/)
})

test('the other parts are valid and escape everything', () => {
  const text = assertSafe(
    html`${sheetPart({
      id: 'part',
      title: HOSTILE,
      text: HOSTILE,
      content: [
        doneNote(page, HOSTILE, { action: '/x', fields: { status: HOSTILE } }),
        viewOnly(page, { permission: HOSTILE, ask: [HOSTILE, 'b', 'c'] }),
        viewOnly(page, { permission: HOSTILE, ask: [] }),
        optionCards({
          legend: HOSTILE,
          name: 'status',
          options: [{ value: HOSTILE, label: HOSTILE, text: HOSTILE, kind: 'no', hotkey: 'A', isChosen: true }],
        }),
        chips(page, { legend: 'L', name: 'l', options: [{ value: 'a', label: HOSTILE, isChosen: true, isNew: true }] }),
        dropZone(page, { id: 'f', name: 'files', label: HOSTILE, text: HOSTILE, accept: '.jar', isMultiple: true }),
        uploadProgress({ label: HOSTILE, value: 1, max: 3 }),
        uploadProgress({ label: HOSTILE, value: 0, max: 0, isWaiting: true }),
        status(page, { icon: 'info', label: HOSTILE, kind: 'bad' }),
        statusOf(page, 'project', HOSTILE),
        statusOf(page, 'version', 'listed'),
        statusOf(page, 'scan', 'warn'),
        saveBar(page, { text: HOSTILE }),
        shortcuts(page, [{ keys: ['J', 'K'], label: HOSTILE }]),
      ],
    })}`,
  )
  assert.match(text, /33%/)
  assert.match(text, /100%/)
})
