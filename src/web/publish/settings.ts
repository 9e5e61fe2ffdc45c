// The frame of the settings pages of projects and organizations: title, rail, notes and sheet.

import type { FastifyReply } from 'fastify'
import { type EditedSubject, findLastEdit } from '#features/basics/audit/last-edit.ts'
import { listCachedUsers } from '#features/people/users/user-cache.ts'
import type { FormState } from '#web/kit/forms/form-page.ts'
import type { OwnRequest } from '#web/kit/pages.ts'
import { showWork, type WorkPage } from '#web/kit/work-page.ts'
import { html, type Markup, type Part } from '#web/ui/html.ts'
import { type PageContext, pathTo } from '#web/ui/page-context.ts'
import { form, textField } from '#web/ui/parts/fields.ts'
import { type Rail, type Subject, sheetHead } from '#web/ui/parts/frame.ts'

export type SettingsPage<Permission> = Omit<WorkPage, 'subject' | 'sections' | 'title'> & {
  /** Path of the open section below `/settings`. */
  section: string
  /** Heading of the sheet. */
  heading: string
  /** Title of the document. Default: the heading with the name of the subject. */
  title?: string
  text?: Part
  action?: Part
  /** Permission that editing needs, or with `isToSee` that the content needs. Members without it see who can grant it. */
  needs?: Permission
  isToSee?: boolean
}

/**
 * Adds the author and the time of the change that is in conflict with a form. `fieldOf` returns the changed field, as the
 * audit log names it, of a field of the form. Default: the part of its name before the point.
 */
export async function withLastEdit(
  { deps }: OwnRequest,
  form: FormState,
  subject: EditedSubject,
  fieldOf: (name: string) => string = (name) => name.split('.')[0] ?? name,
): Promise<FormState> {
  if (form.conflicts.size === 0) return form
  return { ...form, saved: await findLastEdit(deps.db, subject, [...form.conflicts.keys()].map(fieldOf)) }
}

/** Shows a settings page. `settings` is the path of the settings of the subject. */
export function showSettings(
  request: OwnRequest,
  of: Omit<SettingsPage<never>, 'needs' | 'isToSee' | 'notes'>,
  frame: { subject: Subject; settings: string; groups: Rail['groups']; notes: readonly Part[] },
): FastifyReply {
  const { t } = request
  const { section, heading, text, action, body, ...rest } = of
  const { subject, settings, groups, notes } = frame
  const { name } = subject
  return showWork(request, {
    title: t('manage.title', { section: heading, name }),
    ...rest,
    subject,
    sections: { label: t('manage.sections', { name }), current: `${settings}${section}`, groups },
    notes: notes.some((part) => part !== undefined && part !== false && part !== null) ? notes : undefined,
    body: html`${sheetHead({ title: heading, text, action })}
${body}`,
  })
}

/** Renders what a deletion removes, and the form that needs the typed slug. `settings` is the path of the settings. */
export function deletionForm(
  page: PageContext,
  { name, slug }: { name: string; slug: string },
  { settings, state, effects }: { settings: string; state: FormState; effects: readonly Part[] },
): Markup {
  const { t } = page.language
  const field = textField(page, {
    name: 'name',
    label: t('work.type-name', { name: slug }),
    value: state.text('name'),
    autocomplete: 'off',
    isName: true,
    errors: state.errors,
  })
  const content = html`${field}<div class="line"><button class="danger" name="do" value="delete">${t('people.delete.button', { name })}</button></div>`
  return html`<ul>${effects.map((effect) => html`<li>${effect}</li>`)}</ul>
${form(page, { action: pathTo(page, `${settings}/delete`), className: 'stack', content })}`
}

/** Maximum number of members that a sentence names. */
const NAMED_MAX = 3

/** Returns the usernames of the first of these members, the owner first. */
export async function listGrantors(
  { deps }: OwnRequest,
  members: readonly { account_id: string; is_owner: boolean }[],
): Promise<string[]> {
  const ids = members
    .toSorted((a, b) => Number(b.is_owner) - Number(a.is_owner))
    .slice(0, NAMED_MAX)
    .map(({ account_id }) => account_id)
  const users = await listCachedUsers(deps, ids)
  return users.map(({ username }) => username)
}
