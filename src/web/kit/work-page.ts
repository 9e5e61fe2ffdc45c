// The pages for publishers, moderators and operators: their area, and their frame with notices and errors.

import type { FastifyReply } from 'fastify'
import { hasSecondFactor } from '#features/basics/access/accounts.ts'
import { html, type Part } from '#web/ui/html.ts'
import { pathTo } from '#web/ui/page-context.ts'
import { doneNote, type Undo } from '#web/ui/parts/actions.ts'
import { errorSummary } from '#web/ui/parts/fields.ts'
import { type Rail, type Subject, subjectHead, workSheet } from '#web/ui/parts/frame.ts'
import { note } from '#web/ui/parts/lists.ts'
import type { FormState } from './forms/form-page.ts'
import type { FormLimits } from './forms/read-form.ts'
import type { OwnRequest } from './pages.ts'
import { PATHS } from './paths.ts'
import { type Area, noticeOf } from './request.ts'

/** A description of 65,536 characters can have 9 times as many bytes in a form; several gallery images of 5 MiB. */
export const WORK_FORMS: FormLimits = {
  formBytes: 640 * 1024,
  filesBytes: 26 * 1024 * 1024,
  fileBytes: 5 * 1024 * 1024,
  fields: 200,
  fieldLength: 128 * 1024,
}

/** Properties that the three areas have in common. Browsers store the pages, but revalidate them. */
export const WORK_AREA: Area = {
  defaults: { isUnlisted: true, className: 'page', isWork: true },
  isStored: true,
  wayOut: { path: PATHS.dashboard, label: 'work.to-dashboard' },
  missing: 'work.absent',
  forms: WORK_FORMS,
}

export type WorkPage = {
  /** Title of the document, which names the subject: "Members of Lantern". */
  title: string
  subject: Subject
  /** Sections of the subject. Pages without a rail use the whole width. */
  sections?: Rail
  body: Part
  /** State of the form on the page: its errors are shown at the top of the sheet. */
  form?: FormState
  /** Reverse of the action that the notice confirms. */
  undo?: Undo | undefined
  /** Values of the notice that `?done=` names. */
  notice?: Readonly<Record<string, string | number>>
  /** More notices at the top of the sheet. */
  notes?: Part
  /** Between the subject and the sheet, such as the claim bar. */
  above?: Part
  /** Whether the page shows secrets: browsers must not store it. */
  isSecret?: boolean
  /** Default: the status of the refused form, otherwise 200. */
  status?: number
}

/** Shows a page in the frame: subject, rail, and the sheet with notice and errors. */
export function showWork(request: OwnRequest, of: WorkPage): FastifyReply {
  const { page } = request
  const { subject, sections, form, isSecret = false, status } = of
  const body = html`${subjectHead(page, subject)}
${of.above}
${workSheet(page, { sections, body: [messagesOf(request, of), of.body] })}`
  return request.show({
    title: of.title,
    className: ['page', subject.hue].filter(Boolean).join(' '),
    body,
    refusal: form?.refusal,
    isSecret,
    ...(status === undefined ? {} : { status }),
  })
}

/** Asks a moderator or admin for two-factor sign-in until they use it. */
export function twoFactorNote({ page, account, rich }: OwnRequest): Part {
  if (hasSecondFactor(account)) return false
  const link = (text: Part) => html`<a href="${pathTo(page, PATHS.security)}">${text}</a>`
  return note(page, 'warn', html`<p>${rich('work.two-factor', { link })}</p>`)
}

function messagesOf(request: OwnRequest, { form, undo, notice: values, notes }: WorkPage): Part {
  const { page } = request
  // The notice of a command that filled the form, such as Undo, replaces the text about the expired session.
  const notice = form?.isSubmitted === true && !form.isRestored ? undefined : noticeOf(request, values)
  const errors = form?.errors ?? []
  const shown = [
    notice !== undefined && doneNote(page, notice, undo),
    form?.isRestored === true &&
      notice === undefined &&
      note(page, 'warn', html`<p data-restored>${page.language.t('work.restored')}</p>`, { role: 'status' }),
    errorSummary(page, errors),
    notes,
  ]
  const isEmpty = shown.flat(2).every((part) => part === false || part === null || part === undefined)
  return !isEmpty && html`<div class="part notices">${shown}</div>`
}
