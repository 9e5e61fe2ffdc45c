// The form of a new advisory, of a project or of files only. A member's advisory waits for a moderator.

import { isModerator } from '#features/basics/access/viewer.ts'
import { createAdvisory } from '#features/catalogue/versions/advisories/create-advisory.ts'
import type { AdvisoryRow } from '#features/catalogue/versions/advisories/queries.ts'
import { NewAdvisory, REFERENCE_TYPES } from '#features/catalogue/versions/advisories/requests.ts'
import { findVersionIdByNumber, listVersionTraits } from '#features/catalogue/versions/queries.ts'
import { isIdForm } from '#lib/ids.ts'
import { fields } from '#web/kit/forms/fields.ts'
import type { FormState } from '#web/kit/forms/form-page.ts'
import { checkValues, refusedField } from '#web/kit/forms/read-form.ts'
import type { OwnRequest } from '#web/kit/pages.ts'
import { html, type Markup, type Part } from '#web/ui/html.ts'
import { icon } from '#web/ui/page-context.ts'
import { chips } from '#web/ui/parts/choices.ts'
import { markdownEditor } from '#web/ui/parts/editor.ts'
import { checkbox, form, textArea } from '#web/ui/parts/fields.ts'
import { sheetPart } from '#web/ui/parts/frame.ts'
import { errorsOfPart } from '../version/form/file-errors.ts'

/** Number of versions that the form offers, the newest first. */
const CHOICES_MAX = 50
/** Maximum number of lines of a list. The API has lower limits. */
const LINES_MAX = 200
const DETAILS_MAX = 65_536

const SUMMARY = fields(NewAdvisory, { summary: { label: 'advisories.summary', hint: 'advisories.summary.hint' } })
const HASHES = fields(NewAdvisory, { hashes: { label: 'advisories.hashes', said: 'The hash', rows: 3, isCode: true } })
const LIST = { isOptional: true, isCode: true } as const
const MORE = fields(NewAdvisory, {
  references: { ...LIST, label: 'advisories.references', said: 'The link', rows: 3 },
  severity: { ...LIST, label: 'site.advisory.severity', hint: 'advisories.severity.hint', rows: 2 },
  aliases: { ...LIST, label: 'advisories.aliases', said: 'The ID', hint: 'advisories.aliases.hint' },
})

/** Names of the fields in error messages. */
export const ADVISORY_LABELS = {
  ...SUMMARY.said,
  ...HASHES.said,
  ...MORE.said,
  details: 'The description',
  versions: 'The version',
  withdraw: 'The withdrawal',
}

type Version = { id: string; version_number: string }

/** Returns the newest listed versions of the project, one more than the form offers. */
export const loadVersionChoices = ({ deps }: OwnRequest, projectId: string): Promise<Version[]> =>
  listVersionTraits(deps.db, projectId, { limit: CHOICES_MAX + 1 })

/** Creates the advisory of the form. @throws ApiError 400 naming the field */
export async function createFrom(
  request: OwnRequest,
  state: FormState,
  projectId: string | undefined,
): Promise<AdvisoryRow> {
  const { deps, viewer } = request
  const about =
    projectId === undefined
      ? {}
      : {
          project: projectId,
          versions: [...state.list('versions'), ...(await olderVersions(request, state, projectId))],
          withdraw: state.text('withdraw') === 'true',
        }
  const body = checkValues(NewAdvisory, {
    ...about,
    summary: state.text('summary'),
    details: state.text('details'),
    hashes: linesOf(state, 'hashes'),
    aliases: state
      .text('aliases')
      .split(/[\s,]+/)
      .filter(Boolean),
    severity: linesOf(state, 'severity').map((score) => ({
      type: score.startsWith('CVSS:4') ? 'CVSS_V4' : 'CVSS_V3',
      score,
    })),
    references: linesOf(state, 'references').map(toReference),
  })
  return createAdvisory(deps, viewer, body)
}

const linesOf = (state: FormState, name: string): string[] =>
  state
    .text(name)
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean)
    .slice(0, LINES_MAX)

/** Reads a line of links: an address, after its kind if it has one. */
function toReference(line: string): { type: string; url: string } {
  const [kind = '', ...rest] = line.split(/\s+/)
  const type = REFERENCE_TYPES.find((each) => each === kind.toUpperCase())
  return type === undefined || rest.length === 0 ? { type: 'WEB', url: line } : { type, url: rest.join(' ') }
}

/** Returns the IDs of the versions that the form does not offer, by their numbers or IDs. */
async function olderVersions({ deps, page }: OwnRequest, state: FormState, projectId: string): Promise<string[]> {
  const ids: string[] = []
  for (const name of linesOf(state, 'older')) {
    const id = (await findVersionIdByNumber(deps.db, projectId, name)) ?? (isIdForm(name) ? name : undefined)
    if (id === undefined) throw refusedField('older', page.language.t('advisories.older.unknown', { name }))
    ids.push(id)
  }
  return ids
}

/** Renders the form. `versions` is undefined for an advisory without a project. */
export async function advisoryForm(
  request: OwnRequest,
  state: FormState,
  { action, versions }: { action: string; versions: readonly Version[] | undefined },
): Promise<Markup> {
  const { page, viewer, t } = request
  const isDirect = isModerator(viewer)
  const references = { hint: t('advisories.references.hint', { kinds: REFERENCE_TYPES.join(', ') }) }
  return form(page, {
    action,
    content: [
      sheetPart({
        id: 'what',
        title: t('advisories.part.what'),
        content: html`<div class="stack">${SUMMARY.controls(page, state)}${await detailsField(request, state)}</div>`,
      }),
      sheetPart({
        id: 'affected',
        title: t('advisories.part.affected'),
        content: html`<div class="stack">${affectedFields(request, state, versions)}</div>`,
      }),
      sheetPart({
        id: 'more',
        title: t('advisories.part.more'),
        content: html`<div class="stack">${MORE.controls(page, state, {}, { references })}</div>`,
      }),
      html`<div class="part stack"><p>${t(isDirect ? 'advisories.create.direct' : 'advisories.create.review')}</p><div class="line"><button class="main" name="do" value="create">${icon(page, 'warning')}${t(isDirect ? 'advisories.publish' : 'advisories.submit')}</button></div></div>`,
    ],
  })
}

async function detailsField({ page, texts, t }: OwnRequest, state: FormState): Promise<Markup> {
  const text = state.text('details')
  const editor = markdownEditor(page, {
    name: 'details',
    label: t('advisories.details'),
    value: text,
    rendered: await texts.preview(text, page),
    rows: 10,
    maxLength: DETAILS_MAX,
    title: t('advisories.details'),
  })
  return html`${errorsOfPart(page, state, 'details')}${editor}`
}

function affectedFields({ page, t }: OwnRequest, state: FormState, versions: readonly Version[] | undefined): Part {
  const { errors } = state
  const chosen = state.list('versions')
  const offered = (versions ?? []).slice(0, CHOICES_MAX)
  const hasMore = (versions ?? []).length > CHOICES_MAX
  const options = offered.map(({ id, version_number }) => ({
    value: id,
    label: version_number,
    isChosen: chosen.includes(id),
  }))
  const hint = t(versions === undefined ? 'advisories.hashes.only' : 'advisories.hashes.hint')
  const hashes = HASHES.controls(page, state, {}, { hashes: { hint, isOptional: versions !== undefined } })
  if (versions === undefined) return hashes
  const older = textArea(page, {
    name: 'older',
    label: t('advisories.older'),
    hint: t('advisories.older.hint'),
    value: state.text('older'),
    rows: 2,
    isOptional: true,
    isCode: true,
    errors,
  })
  const withdraw = checkbox({
    name: 'withdraw',
    value: 'true',
    isChecked: state.text('withdraw') === 'true',
    label: t('advisories.withdraw'),
    hint: t('advisories.withdraw.hint'),
  })
  return [
    options.length > 0 &&
      chips(page, {
        legend: t('site.tab.versions'),
        name: 'versions',
        hint: t('advisories.versions.hint'),
        error: errorsOfPart(page, state, 'versions'),
        options,
      }),
    hasMore && older,
    hashes,
    options.length > 0 && withdraw,
  ]
}
