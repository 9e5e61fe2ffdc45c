// The record of a user and the shared note about them, for the pages of moderators and of operators.
import { getNote, getUserRecord, type NoteRow } from '#features/community/moderation/users/queries.ts'
import { checkNote, NoteInput } from '#features/community/moderation/users/requests.ts'
import { toUserRecordView, type UserRecordView } from '#features/community/moderation/users/views.ts'
import { writeNote } from '#features/community/moderation/users/write-note.ts'
import type { AccountRow } from '#features/people/users/queries.ts'
import { fields } from '#web/kit/forms/fields.ts'
import type { FormState, Outcome } from '#web/kit/forms/form-page.ts'
import { checkValues } from '#web/kit/forms/read-form.ts'
import type { OwnRequest } from '#web/kit/pages.ts'
import { html, type Markup } from '#web/ui/html.ts'
import type { PageContext } from '#web/ui/page-context.ts'
import { formPart } from '#web/ui/parts/actions.ts'
import { hiddenField } from '#web/ui/parts/fields.ts'
import { note } from '#web/ui/parts/lists.ts'
import { timeOf } from '../parts.ts'

const NOTE = fields(NoteInput, {
  body: { label: 'reports.note.label', said: 'The note', hint: 'reports.note.hint', rows: 5, isOptional: true },
})

export const NOTE_LABELS = NOTE.said

export type RecordedUser = { record: UserRecordView; note: NoteRow }

export async function loadRecord(deps: OwnRequest['deps'], account: AccountRow): Promise<RecordedUser> {
  const record = toUserRecordView(account, await getUserRecord(deps.db, account.id), deps)
  return { record, note: await getNote(deps.db, account.id) }
}

export async function saveNote(
  { deps, viewer }: OwnRequest,
  { account }: { account: AccountRow },
  state: FormState,
): Promise<Outcome> {
  const input = { body: state.text('body'), revision: Number(state.text('revision')) }
  await writeNote(deps, viewer, { accountId: account.id, note: checkNote(checkValues(NoteInput, input)) })
  return { done: 'note-saved' }
}

/** Renders the note of moderators and operators, whose form posts to `path`. After a conflict, it shows the note of the other moderator, and the typed text with the current revision. */
export function notePart(
  page: PageContext,
  { note: saved, path }: { note: NoteRow; path: string },
  state: FormState,
): Markup {
  const { t, rich } = page.language
  const isConflict = state.refusal?.status === 409 && state.text('revision') !== ''
  const by =
    saved.updated !== null &&
    html`<p class="small soft">${rich('reports.note.by', { name: html`<bdi>${saved.author ?? t('work.thread.deleted-user')}</bdi>`, at: timeOf(page, saved.updated) })}</p>`
  const theirs =
    isConflict &&
    note(
      page,
      'warn',
      html`<p class="strong">${t('reports.note.conflict')}</p><p dir="auto">${saved.body === '' ? t('reports.note.empty') : saved.body}</p>`,
    )
  const content = html`${hiddenField('revision', String(saved.revision))}${theirs}
${NOTE.controls(page, state, saved)}
${by}<div class="line"><button class="main" name="do" value="note">${t('reports.note.save')}</button></div>`
  return formPart(page, { id: 'note', title: t('reports.note.title'), path, content })
}
