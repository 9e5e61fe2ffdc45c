// Reports a project, a version or a user to the moderators.

import type { FastifyReply } from 'fastify'
import type { Viewer } from '#features/basics/access/viewer.ts'
import { getProject } from '#features/catalogue/projects/lookup/project-cache.ts'
import { getVersion } from '#features/catalogue/versions/lookup/version-cache.ts'
import { createReport } from '#features/community/reports/create-report.ts'
import { listOwnOpenReports } from '#features/community/reports/queries.ts'
import { type ItemType, parseReport, ReportInput } from '#features/community/reports/requests.ts'
import { getCachedUser } from '#features/people/users/user-cache.ts'
import { notFound } from '#lib/errors.ts'
import { viewOf } from '#lib/text/json-bytes.ts'
import { attempt, checkValues, errorsOf, type FormRefusal } from '#web/kit/forms/read-form.ts'
import { PATHS, projectPath, reportPath, userPath, versionPath } from '#web/kit/paths.ts'
import type { PageRequest } from '#web/kit/request.ts'
import { dayText } from '#web/ui/format.ts'
import { html, type Markup } from '#web/ui/html.ts'
import type { Language } from '#web/ui/languages.ts'
import { icon, pathTo } from '#web/ui/page-context.ts'
import { errorSummary, form, hiddenField, selectField, textArea } from '#web/ui/parts/fields.ts'
import { note, slip } from '#web/ui/parts/lists.ts'
import { termName } from './names.ts'

const TEXT_MAX = 65_536

type Reported = { type: ItemType; id: string; name: string; path: string }
type Typed = { reason: string; text: string }

export async function showReport(request: PageRequest): Promise<FastifyReply> {
  const { viewer, query, toSignIn } = request
  if (viewer === null) return toSignIn()
  const reported = await findReported(request, query('item'), query('id'))
  return showForm(request, viewer, reported, { reason: '', text: '' })
}

export async function sendReport(request: PageRequest): Promise<FastifyReply> {
  const { deps, viewer, page, field, redirect, toSignIn } = request
  if (viewer === null) return toSignIn(reportPath(field('item'), field('id')))
  const reported = await findReported(request, field('item'), field('id'))
  const typed = { reason: field('reason'), text: field('text') }
  const { refusal } = await attempt(
    async () => {
      const refused = request.writeRefusal()
      if (refused !== undefined) throw refused
      const input = { report_type: typed.reason, item_type: reported.type, item_id: reported.id, body: typed.text }
      return createReport(deps, viewer, parseReport(checkValues(ReportInput, input), deps.taxonomy))
    },
    { report_type: page.language.t('site.report.reason'), body: page.language.t('site.report.text') },
  )
  if (refusal !== undefined) return showForm(request, viewer, reported, typed, refusal)
  return redirect(reportPath(reported.type, reported.id))
}

/** @throws ApiError 404 for an unknown type, and if the item is hidden from the viewer */
async function findReported({ deps, viewer }: PageRequest, type: string, id: string): Promise<Reported> {
  switch (type) {
    case 'project': {
      const view = viewOf(await getProject(deps, viewer, id))
      return { type, id: view.id, name: view.name, path: projectPath(view) }
    }
    case 'version': {
      const version = viewOf(await getVersion(deps, viewer, id))
      const view = viewOf(await getProject(deps, viewer, version.project_id))
      const path = projectPath(view)
      const name = `${view.name} ${version.version_number}`
      return { type, id: version.id, name, path: versionPath(path, version) }
    }
    case 'user': {
      const user = await getCachedUser(deps, id)
      return { type, id: user.id, name: user.username, path: userPath(user.username) }
    }
    default:
      throw notFound('page')
  }
}

async function showForm(request: PageRequest, viewer: Viewer, reported: Reported, typed: Typed, refusal?: FormRefusal) {
  const { deps, page, show, language } = request
  const open = await listOwnOpenReports(deps.db, viewer.id, reported)
  const title = language.t('site.report.title', { name: reported.name })
  const body = slip(html`<h1>${language.rich('site.report.title', { name: html`<bdi>${reported.name}</bdi>` })}</h1>
${open[0] !== undefined && note(page, 'good', html`<p>${language.t('site.report.sent', { day: dayText(language, open[0].created) })}</p>`)}
${reportForm(request, reported, typed, refusal)}
<p><a href="${pathTo(page, reported.path)}">${language.rich('site.report.back', { name: html`<bdi>${reported.name}</bdi>` })}</a></p>`)
  return show({ title, body, isUnlisted: true, className: 'page account', refusal })
}

/** Names of the form's fields by the names of the API's fields, so that an error links to its field. */
const FIELDS: Readonly<Record<string, string>> = { report_type: 'reason', body: 'text' }

function reportForm({ page, deps }: PageRequest, reported: Reported, typed: Typed, refusal?: FormRefusal): Markup {
  const { language } = page
  const errors = errorsOf({ refusal }).map((error) => ({ ...error, field: FIELDS[error.field ?? ''] }))
  const reasons = deps.taxonomy.reportTypes.map((value) => ({
    value,
    label: reasonName(language, value),
    isChosen: value === typed.reason,
  }))
  return form(page, {
    action: pathTo(page, PATHS.report),
    content: html`${errorSummary(page, errors)}
${hiddenField('item', reported.type)}${hiddenField('id', reported.id)}
${selectField(page, { name: 'reason', label: language.t('site.report.reason'), errors, choices: [{ value: '', label: language.t('site.report.choose'), isChosen: typed.reason === '', isDisabled: true }, ...reasons] })}
${textArea(page, { name: 'text', label: language.t('site.report.text'), hint: language.t('site.report.hint'), value: typed.text, maxLength: TEXT_MAX, rows: 8, errors })}
<button class="main">${icon(page, 'flag')}${language.t('site.report.send')}</button>`,
  })
}

const REASONS = ['spam', 'copyright', 'inappropriate', 'malicious', 'name-squatting'] as const

/** Returns the name of a reason. Reasons that the operator added have no message. */
export function reasonName(language: Language, reason: string): string {
  const named = REASONS.find((name) => name === reason)
  return named === undefined ? termName(reason) : language.t(`site.report.${named}`)
}
