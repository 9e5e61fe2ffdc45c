// Concurrent edits: a form contains the fingerprints of the values that it was made of. If another user changed a field in
// the meantime, fields that only one of both changed are merged, and for other fields the user chooses a value.
import { createHash } from 'node:crypto'
import { ApiError } from '#lib/errors.ts'
import { exactTime } from '#web/ui/format.ts'
import { attributes, html, type Part } from '#web/ui/html.ts'
import { icon, type PageContext } from '#web/ui/page-context.ts'
import { hiddenField } from '#web/ui/parts/fields.ts'

type Value = string | readonly string[]
export type Values = Readonly<Record<string, Value>>

/** Values of one field that differ: the stored one and the submitted one. */
export type Conflict = { theirs: Value; yours: Value }

/** The time of the other change and its author. `by`: null for moderators, who stay anonymous. */
export type Saved = { by: string | null; at: Date }

/** The fields that both users changed. */
export class EditConflict extends ApiError {
  readonly fields: ReadonlyMap<string, Conflict>

  constructor(fields: ReadonlyMap<string, Conflict>) {
    super('conflict', 'Another user changed the same fields after you opened the page. Your changes are preserved.')
    this.fields = fields
  }
}

/** Field of the fingerprints. */
export const BASE = 'was'
const TAKE = 'take.'

const fingerprint = (value: Value): string =>
  createHash('sha256').update(JSON.stringify(value)).digest('base64url').slice(0, 12)

const isSame = (a: Value, b: Value): boolean => JSON.stringify(a) === JSON.stringify(b)

type Submitted = { text(name: string): string; list(name: string): readonly string[] }

/** Returns the fingerprints in a submitted form, by field. */
function submittedBase(submitted: Pick<Submitted, 'text'>): Map<string, string> {
  const entries = submitted.text(BASE).split(' ')
  return new Map(
    entries.map((entry) => [entry.slice(0, entry.lastIndexOf(':')), entry.slice(entry.lastIndexOf(':') + 1)]),
  )
}

/**
 * Renders the hidden field with the fingerprints of the stored values. A form that is shown again keeps its fingerprints,
 * except for fields whose conflict the page shows.
 */
export function editBase(
  form: Pick<Submitted, 'text'> & { conflicts: ReadonlyMap<string, Conflict> },
  current: Values,
): Part {
  const submitted = submittedBase(form)
  const prints = Object.entries(current).map(([name, value]) => {
    const kept = form.conflicts.has(name) ? undefined : submitted.get(name)
    return `${name}:${kept ?? fingerprint(value)}`
  })
  return hiddenField(BASE, prints.join(' '))
}

/** Whether the user chose the stored value of a field after a conflict. */
export const takesTheirs = (submitted: Submitted, name: string): boolean => submitted.text(TAKE + name) === 'theirs'

/**
 * Returns the fields that the user changed, with their submitted values.
 * @throws EditConflict if another user changed one of these fields to another value since the form was loaded.
 */
export function editedFields<Current extends Values>(submitted: Submitted, current: Current): Partial<Current> {
  const base = submittedBase(submitted)
  const edited: Record<string, Value> = {}
  const conflicts = new Map<string, Conflict>()
  for (const [name, theirs] of Object.entries(current)) {
    const yours = typeof theirs === 'string' ? submitted.text(name) : submitted.list(name)
    if (isSame(yours, theirs) || takesTheirs(submitted, name)) continue
    const was = base.get(name)
    if (was === fingerprint(yours)) continue
    if (was !== undefined && was !== fingerprint(theirs)) conflicts.set(name, { theirs, yours })
    edited[name] = yours
  }
  if (conflicts.size > 0) throw new EditConflict(conflicts)
  return edited as Partial<Current>
}

/** Renders the fields that both users changed, with a choice for each: the submitted value is selected. */
export function conflictNote(
  page: PageContext,
  { conflicts, saved }: { conflicts: ReadonlyMap<string, Conflict>; saved?: Saved | undefined },
  labels: Readonly<Record<string, string>>,
): Part {
  if (conflicts.size === 0) return null
  const { t, rich } = page.language
  const whoSaved = ({ by, at: time }: Saved): Part => {
    const at = exactTime(page.language, time)
    return by === null
      ? rich('work.conflict.by-moderator', { at })
      : rich('work.conflict.by', { at, name: html`<bdi>${by}</bdi>` })
  }
  const who = saved !== undefined && html`<p>${whoSaved(saved)}</p>`
  const choice = (name: string, value: 'theirs' | 'yours', shown: Value) => {
    const input = attributes({ type: 'radio', name: TAKE + name, value, checked: value === 'yours' })
    const text = typeof shown === 'string' ? shown : shown.join(', ')
    return html`<td><label class="choice"><input${input}><span dir="auto">${text === '' ? html`<em>${t('work.empty')}</em>` : text}</span></label></td>`
  }
  const rows = [...conflicts].map(
    ([name, { theirs, yours }]) =>
      html`<tr><th scope="row">${labels[name] ?? name}</th>${choice(name, 'theirs', theirs)}${choice(name, 'yours', yours)}</tr>
`,
  )
  return html`<div class="note warn" role="alert">${icon(page, 'warning')}<div><p class="strong">${t('work.conflict')}</p>${who}<p>${t('work.conflict.text')}</p><table class="was"><thead><tr><th scope="col">${t('work.field')}</th><th scope="col">${t('work.conflict.theirs')}</th><th scope="col">${t('work.conflict.yours')}</th></tr></thead>
<tbody>${rows}</tbody></table></div></div>`
}
